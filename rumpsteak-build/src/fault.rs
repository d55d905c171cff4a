//! Mistakes in a module, as values. [`scope`](crate::scope), [`codegen`](crate::codegen) and
//! [`judge`](crate::judge) make each once, at its place; [`report`](crate::report) has the texts.

use proc_macro2::Span;
use rumpsteak_front::session::Direction;
use rumpsteak_fsm::bounded::{Hang, Queue};
use rumpsteak_fsm::repair::Misfit;
use rumpsteak_fsm::verify::{Refused, VerifyError};
use rumpsteak_fsm::{Action, Defect, Limit, Message, Role, Run, StateId, TransitionId};

use crate::named_text::TextPlace;
use crate::protocols::Outcome;

#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) span: Span,
    pub(crate) cause: Cause,
    /// The result for all sessions of the protocol together, if one of them is refused.
    pub(crate) note: Option<Note>,
}

/// The cause of a mistake. Files are positions, roles are positions in the module's
/// protocol, and names are as written in Rust.
#[derive(Clone, Debug)]
pub(crate) enum Cause {
    /// Two options of a choice have the same label.
    AmbiguousChoice { subject: Box<Subject>, defect: Defect },
    /// A file of protocols has errors.
    BrokenFile { file: usize },
    /// Sessions hang with the capacities that routes declare.
    Hangs(Box<Hangs>),
    /// A session of a protocol with a family may not be safe with every number of members.
    Family { name: String, role: String, reason: String },
    /// A session leads back to itself without an action.
    Idle { name: String },
    /// A file beside a `.scr` file is not a machine of the role in its name.
    Machine { headline: String, place: Option<TextPlace>, help: Option<String> },
    /// A name refers to the wrong kind of item, or to none.
    Name { name: String, problem: NameProblem, hint: Option<String> },
    /// A session uses a type that is not a label of its role's message type, but something else.
    NoLabel { name: String, message: String, labels: Vec<String>, instead: &'static str },
    /// A role names a message type that the module lacks.
    NoMessage { name: String },
    /// A role has no route to a peer of its session.
    NoRoute { role: String, peer: String, message: String },
    /// The protocol is not live for the role of a session, or not provably, and has to be.
    NotLive { name: String, reason: String },
    /// A label carries another payload than the messages of its name; `None` if it carries itself.
    OtherPayload { name: String, carried: Option<Vec<String>>, messages: Vec<Message> },
    /// A role names another protocol than the module.
    OtherProtocol { found: String, module: Option<String> },
    /// A session goes on as a part of another role's session: their names, and the name to write.
    OtherSession { names: Box<[String; 3]>, meant: Option<String> },
    /// Two files declare this protocol.
    ProtocolDeclaredTwice { wanted: String, files: [usize; 2] },
    /// A `type` contains itself.
    RecursiveAlias { name: String },
    /// A session is not a subtype of its projection.
    Refused(Box<Refusal>),
    /// The attribute has an unknown setting, or a setting for an unknown role.
    Setting { name: String, known: Vec<String> },
    /// A role of a closed system has no session.
    SilentRole { set: String, role: String },
    /// Two labels of a message type stand for one message.
    TwoLabels { types: Box<[String; 2]>, message: Message },
    /// Two structs play one role.
    TwoStructs { role: String, structs: Box<[String; 2]> },
    /// A limit stopped the search for a proof. If `fair`, the session is a fair subtype.
    Undecided { subject: Box<Subject>, limit: Limit, fair: bool },
    /// The verifier does not know whether sessions hang at the capacities that routes declare.
    UndecidedCapacities { set: String, reason: String },
    /// The verifier does not know whether a closed system is safe.
    UndecidedSystem { set: String, reason: String },
    /// The projections make no system.
    Unjudged { subject: Box<Subject>, error: VerifyError },
    /// No message of the protocol has the name of the label.
    UnknownLabel { name: String, label: String },
    /// No protocol has this name.
    UnknownProtocol { wanted: String },
    /// The protocol has no such role, or several and none with this spelling.
    UnknownRole { wanted: String },
    /// The protocol can only be called by others.
    UnplayableProtocol { wanted: String },
    /// A closed system is unsafe: the run, and the sessions and lines to blame.
    UnsafeSystem {
        set: String,
        run: Box<Run>,
        blamed: Option<(Blamed, Vec<(String, usize)>)>,
        with: Vec<String>,
    },
    /// The protocol cannot be expressed in Rust.
    Unwritable { protocol: String, reason: String },
}

#[derive(Clone, Debug)]
pub(crate) struct Hangs {
    /// A full queue, and its declared capacity.
    pub(crate) queue: Queue,
    pub(crate) most: usize,
    pub(crate) hang: Box<Hang>,
    /// All roles, with their initial states.
    pub(crate) roles: Vec<(Role, StateId)>,
    /// A capacity that is enough, if one was found.
    pub(crate) enough: Option<usize>,
    /// The sessions of roles that have several.
    pub(crate) with: Vec<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NameProblem {
    /// A choice instead of a session or a label.
    Choice,
    /// A choice among several peers, where one is named. With the constructor that fits it.
    ChoiceAmongPeers(&'static str),
    /// A choice of one peer, where none is named.
    ChoiceOfOnePeer,
    /// A gather in the place of a choice if true, a choice in the place of a gather if false.
    Gather(bool),
    NoChoice,
    NoRole,
    NoSession,
    /// A choice with an option in the direction opposite to this one.
    OtherDirection(Direction),
    /// The session's own role as its peer.
    OwnRole,
    /// A label before the role instead of after it.
    Swapped,
    Unresolved,
}

/// A session, or a machine beside a `.scr` file, with the names that the user knows.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// The session's name, or the machine's file.
    pub(crate) name: String,
    /// The position of the role in the protocol.
    pub(crate) role: usize,
    /// The structs of the roles. Empty for a machine.
    pub(crate) roles: Vec<(Role, String)>,
    pub(crate) labels: Vec<(Message, String)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) subject: Subject,
    pub(crate) action: Option<(TransitionId, Action)>,
    /// A simpler cause than the order.
    pub(crate) misfit: Option<Misfit>,
    pub(crate) refused: Refused,
    /// True if the session is a fair subtype.
    pub(crate) fair: bool,
    /// A better advice than the first difference suggests.
    pub(crate) hint: Option<Hint>,
    /// The sessions of other roles in the run. The remaining roles do what the protocol says.
    pub(crate) with: Vec<String>,
    /// The part with the mistake, its line, and another session that contains it and is right.
    pub(crate) part: Option<[String; 3]>,
    /// The names of the other refused sessions, in the second refusal of a module.
    pub(crate) others: Option<Vec<String>>,
    /// The place to blame in the text of a machine.
    pub(crate) machine: Option<TextPlace>,
}

#[derive(Clone, Debug)]
pub(crate) enum Hint {
    /// The first action of a machine in DOT is wrong, so it may begin in the wrong state.
    Begins,
    /// The session would fit if it went on as this part of itself.
    RightPart(String),
    /// The role has other sessions, so this one may be a part.
    Sibling,
}

impl Refusal {
    pub(crate) fn new(subject: Subject, refused: Refused) -> Self {
        let (action, misfit, hint, part, others, machine) = Default::default();
        let (fair, with) = (false, Vec::new());
        Self { subject, action, misfit, refused, fair, hint, with, part, others, machine }
    }
}

/// The result for all sessions of a protocol together, if its projection refuses one of them.
#[derive(Clone, Debug)]
pub(crate) enum Note {
    /// They are a safe closed system with this bound, which the module may accept.
    Acceptable(usize),
    /// The module accepts a closed system that is not known to be safe.
    Useless(Gap),
}

#[derive(Clone, Debug)]
pub(crate) enum Blamed {
    /// A circle of waits, by position: each role waits for the next one.
    Circle(Vec<usize>),
    Step(usize),
    /// The wait at this position, for a message that the peer never sends.
    Unsent(usize),
    /// A receive that never happens, in a state that could send.
    Dead,
}

#[derive(Clone, Debug)]
pub(crate) enum Gap {
    /// The verifier does not know, for this reason.
    Undecided(String),
    /// A run goes wrong, with these sessions of roles that have several.
    Unsafe(Box<Run>, Vec<String>),
}

impl Cause {
    pub(crate) fn at(self, span: Span) -> Fault {
        Fault { span, cause: self, note: None }
    }

    /// True if a session has an action that its protocol lacks, or an ambiguous message.
    pub(crate) fn is_wrong_anywhere(&self) -> bool {
        match self {
            Self::AmbiguousChoice { .. } => true,
            Self::Refused(of) => !matches!(of.misfit, None | Some(Misfit::Undecided(..))),
            _ => false,
        }
    }

    /// The transition of the protocol whose message a session lacks.
    pub(crate) fn unknown_message(&self) -> Option<TransitionId> {
        let Self::Refused(refusal) = self else { return None };
        match refusal.misfit.as_ref()? {
            Misfit::Missing(due, true) | Misfit::NoOption(due) => due.first().copied(),
            Misfit::Unknown(Some(id)) | Misfit::OtherPayload(id) => Some(*id),
            _ => None,
        }
    }

    /// True if an unfinished item may declare the missing name.
    pub(crate) fn is_of_missing_item(&self) -> bool {
        matches!(self, Self::Name { problem: NameProblem::Unresolved, .. } | Self::NoMessage { .. })
    }

    /// True if the session probably goes on as another role's session.
    pub(crate) fn is_of_role(&self) -> bool {
        matches!(self, Self::Name { problem: NameProblem::OwnRole, .. } | Self::NoRoute { .. })
    }

    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Self::BrokenFile { .. }
            | Self::Family { .. }
            | Self::Undecided { .. }
            | Self::UndecidedCapacities { .. }
            | Self::UndecidedSystem { .. } => Outcome::Undecided,
            _ => Outcome::Fails,
        }
    }
}

impl Subject {
    pub(crate) fn player<'a>(&'a self, role: &'a Role) -> &'a str {
        self.roles.iter().find(|(own, _)| own == role).map_or(role.as_str(), |(_, name)| name)
    }

    /// The name of a message in the user's source.
    pub(crate) fn label(&self, message: &Message) -> String {
        match self.labels.iter().find(|(own, _)| own == message) {
            Some((_, label)) => label.clone(),
            // A machine has the names of the protocol.
            None if self.roles.is_empty() => message.to_string(),
            None => message.label.to_string(),
        }
    }
}
