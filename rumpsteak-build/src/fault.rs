//! A mistake in a module, as a value: [`scope`](crate::scope), [`codegen`](crate::codegen) and
//! [`judge`](crate::judge) make it once, at its place, and [`report`](crate::report) has the words.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use proc_macro2::Span;
use rumpsteak_front::session::Direction;
use rumpsteak_fsm::repair::Misfit;
use rumpsteak_fsm::verify::{Refused, VerifyError};
use rumpsteak_fsm::{Action, Defect, Limit, Message, Role, Run, TransitionId};
use rumpsteak_scribble::Span as ScrSpan;

use crate::gravity::Gravity;
use crate::named_text::NamedText;
use crate::protocols::ProtocolRole;

/// A mistake at a place in a module.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    /// The token to blame.
    pub(crate) span: Span,
    pub(crate) cause: Cause,
    /// The result for all sessions of the protocol together, if their projections refuse one.
    pub(crate) note: Option<Note>,
}

/// A mistake. Files, protocols and their roles are positions in
/// `Protocols`; names are as written in Rust.
#[derive(Clone, Debug)]
pub(crate) enum Cause {
    /// Two options of one choice have the same label.
    AmbiguousChoice { subject: Box<Subject>, defect: Defect },
    /// A file of protocols has errors.
    BrokenFile { file: usize },
    /// These sessions are refused, and all fit if the recursion of this name begins again behind
    /// this message.
    Discontinued { protocol: usize, sessions: Vec<String>, variable: String, behind: ScrSpan },
    /// Two structs, each with the name of the role that the other one plays, of which a session is
    /// refused: with the roles that they play.
    Exchanged(Box<[(String, String); 2]>),
    /// A session does nothing and leads back to itself.
    Idle { name: String },
    /// A file beside a `.scr` file is no machine for the role that it is named after.
    Machine { file: String, problem: MachineProblem },
    /// A name does not stand for what it should stand for.
    Name { name: String, problem: NameProblem, hint: Option<String> },
    /// A session names a type that is no message of its role; the labels of the role.
    NoLabel { name: String, role: String, labels: Vec<String> },
    /// A role names a message type that the module does not have.
    NoMessage { name: String },
    /// A role has no route to a peer of its session.
    NoRoute { role: String, peer: String, message: String },
    /// The protocol neglects the role of a session, or is not known not to, and the attribute asks
    /// for more.
    NotLive { name: String, protocol: usize, reason: String },
    /// A label carries another payload than the messages of its name.
    OtherPayload { name: String, carried: Vec<String>, messages: Vec<Message>, protocol: usize },
    /// A role of the module names another protocol than the module.
    OtherProtocol { found: String, module: Option<String> },
    /// A session goes on as a part of a session of another role: their names. Another name may be
    /// meant.
    OtherSession { names: Box<[String; 3]>, meant: Option<String> },
    /// Several protocols have this name, in the first two of these files.
    ProtocolDeclaredTwice { wanted: String, files: [usize; 2] },
    /// A `type` contains itself.
    RecursiveAlias { name: String },
    /// The session is no subtype of its projection.
    Refused(Box<Refusal>),
    /// The attribute has a setting with this name, or for this role, that does not exist.
    Setting { name: String, known: Vec<String> },
    /// A role of a closed system has no session.
    SilentRole { set: String, role: String },
    /// Two structs play the same role. Nothing plays the idle roles of the protocol.
    TwoStructs { role: String, structs: Box<[String; 2]>, idle: Vec<String> },
    /// A limit left undecided whether the session is a subtype of its projection.
    Undecided {
        subject: Box<Subject>,
        limit: Limit,
        /// True if it is one in the fair relation.
        fair: bool,
    },
    /// It is not known whether the closed system is safe.
    UndecidedSystem { set: String, reason: String },
    /// The projections make no system.
    Unjudged { subject: Box<Subject>, error: VerifyError },
    /// No message of the protocol has the name of the label.
    UnknownLabel { name: String, label: String, meant: Option<String>, protocol: usize },
    /// No protocol has this name; one has nearly the same.
    UnknownProtocol { wanted: String, meant: Option<String> },
    /// The protocol has no such role, or several and none is written like this.
    UnknownRole { wanted: String, protocol: usize },
    /// The protocol is there to be called by others only.
    UnplayableProtocol { wanted: String },
    /// The closed system is not safe. The sessions by these names do, at these lines, what is to
    /// blame. With these sessions, if a role has several.
    UnsafeSystem {
        set: String,
        run: Box<Run>,
        blamed: Option<(Blamed, Vec<(String, usize)>)>,
        with: Vec<String>,
    },
    /// The protocol cannot be said in Rust.
    Unwritable { protocol: String, reason: String },
}

/// A mistake in a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NameProblem {
    /// It is a choice where a session or a label should be.
    Choice,
    /// It is a choice among peers, and something else names the peer.
    ChoiceAmongPeers,
    /// It is a choice towards one peer, which nothing names.
    ChoiceOfOnePeer,
    /// It is a label where a choice should be.
    Label,
    /// It is no role.
    NoRole,
    /// It is no session.
    NoSession,
    /// It is a choice where messages go this way, and it has an option in which one goes the other
    /// way.
    OtherDirection(Direction),
    /// It is the role that the session is of.
    OwnRole,
    /// It is a session where a choice should be.
    Session,
    /// It is a label where the role should be, and the role comes after it.
    Swapped,
    /// The module has no item of this name.
    Unresolved,
}

/// Why a file beside a `.scr` file is no machine for the role that it is named after.
#[derive(Clone, Debug)]
pub(crate) enum MachineProblem {
    /// It is no session type.
    Defect(Defect),
    /// It is named after no role, and nearly after one, or after roles of several protocols.
    Misnamed { reason: String, help: String },
    /// The text is no machine.
    NoMachine { text: Arc<NamedText>, span: Range<usize>, message: String },
    /// It names a role or a message that the protocol does not have.
    Foreign { text: Arc<NamedText>, span: Range<usize>, message: String, help: String },
    /// It holds none, or several.
    Number { number: usize, role: Role },
    /// It is the machine of another role.
    OtherRole { found: Role, role: Role },
    /// Another file is for the same role.
    Twice { role: Role, other: String },
    /// The file cannot be read.
    Unreadable(String),
}

/// A session, or a machine beside a `.scr` file, with the names that the user has for it.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// The session's name, or the machine's file.
    pub(crate) name: String,
    /// The role of the protocol that it plays.
    pub(crate) linked: ProtocolRole,
    /// The structs that play the roles, in the order of the protocol. Empty for a machine, which
    /// has the names of the protocol.
    pub(crate) roles: Vec<String>,
    /// The Rust types of messages, where they are known.
    pub(crate) labels: BTreeMap<Message, String>,
}

/// Why a session, or a machine, is no subtype of its projection.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) subject: Subject,
    /// The action of the session that is refused, if it is one.
    pub(crate) action: Option<(TransitionId, Action)>,
    /// Why it has no place, if there is a simpler reason than the order.
    pub(crate) misfit: Option<Misfit>,
    pub(crate) refused: Refused,
    /// True if it is one in the fair relation.
    pub(crate) fair: bool,
    /// A better thing to do than the first difference shows.
    pub(crate) hint: Option<Hint>,
    /// The sessions of the other roles with which it goes wrong. Empty if it does so with what the
    /// protocol says.
    pub(crate) with: Vec<String>,
    /// The part with the mistake, if that is right in another session: the part, the line there,
    /// and the other session.
    pub(crate) part: Option<[String; 3]>,
    /// The names of the other refused sessions, which the second refusal of a module tells: most
    /// likely the protocol was changed.
    pub(crate) others: Option<Vec<String>>,
    /// The text of the machine with the place to blame, for one that lies beside a `.scr` file.
    pub(crate) machine: Option<(Arc<NamedText>, Range<usize>)>,
}

/// A better thing to do about a refused session or machine.
#[derive(Clone, Debug)]
pub(crate) enum Hint {
    /// A machine begins in the first state, and would fit from the second one on.
    Begins([String; 2]),
    /// The session fits this role, which has no session.
    Fits(String),
    /// The session would fit if it went on as this part of itself.
    RightPart(String),
    /// The role has other sessions, so this one may be a part.
    Sibling,
    /// A whole choice goes the other way in the protocol.
    Turned,
}

impl Refusal {
    pub(crate) fn new(subject: Subject, refused: Refused) -> Self {
        let (action, misfit, hint, part, others, machine) = Default::default();
        let (fair, with) = (false, Vec::new());
        Self { subject, action, misfit, refused, fair, hint, with, part, others, machine }
    }
}

/// What is known of all sessions of a protocol together, one of which its projection refuses.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) protocol: String,
    pub(crate) found: NoteKind,
}

#[derive(Clone, Debug)]
pub(crate) enum NoteKind {
    /// They are a safe closed system with this bound, and the build script may accept that.
    Acceptable(usize),
    /// The build script accepts a safe closed system, and they are none.
    Useless(Gap),
}

/// What is to blame for a run.
#[derive(Clone, Debug)]
pub(crate) enum Blamed {
    /// The waits at these positions, each for what the role of the next one sends only later; the
    /// last one for what the role of the first one does.
    Circle(Vec<usize>),
    /// The step at this position.
    Step(usize),
    /// The wait at this position, for what its peer sends nowhere.
    Unsent(usize),
}

/// Why sessions together are not known to be a safe closed system.
#[derive(Clone, Debug)]
pub(crate) enum Gap {
    /// This role has no session.
    Silent(String),
    /// It is not known, and why.
    Undecided(String),
    /// This session was not read.
    Unread(String),
    /// They are not safe, and which sessions they are where a role has several.
    Unsafe(Box<Run>, Vec<String>),
}

impl Cause {
    pub(crate) fn at(self, span: Span) -> Fault {
        Fault { span, cause: self, note: None }
    }

    /// Whether a session is wrong with whatever peers: it does something that its protocol does not
    /// have, or a message of it does not tell which option is meant.
    pub(crate) fn is_wrong_anywhere(&self) -> bool {
        match self {
            Self::AmbiguousChoice { .. } => true,
            Self::Refused(refusal) => {
                let misfit = refusal.misfit.as_ref();
                misfit.is_some_and(|misfit| !matches!(misfit, Misfit::Undecided(..)))
            }
            _ => false,
        }
    }

    /// The transition of the protocol whose message a session does not know.
    pub(crate) fn unknown_message(&self) -> Option<TransitionId> {
        let Self::Refused(refusal) = self else { return None };
        match refusal.misfit.as_ref()? {
            Misfit::Missing(due, true) | Misfit::NoOption(due) => due.first().copied(),
            Misfit::Unknown(Some(id)) | Misfit::OtherPayload(id) => Some(*id),
            _ => None,
        }
    }

    pub(crate) fn gravity(&self) -> Gravity {
        match self {
            Self::Undecided { .. } | Self::UndecidedSystem { .. } => Gravity::Undecided,
            Self::BrokenFile { .. } => Gravity::Undecided,
            _ => Gravity::Fails,
        }
    }
}

impl Subject {
    /// What the user calls a role of the protocol.
    pub(crate) fn role<'a>(&'a self, role: &'a Role, of_protocol: &[Role]) -> &'a str {
        let position = of_protocol.iter().position(|other| other == role);
        let named = position.and_then(|position| self.roles.get(position));
        named.map_or(role.as_str(), String::as_str)
    }

    /// What the user calls a message.
    pub(crate) fn label(&self, message: &Message) -> String {
        match self.labels.get(message) {
            Some(label) => label.clone(),
            // A machine has the names of the protocol, with the payload.
            None if self.roles.is_empty() => self.whole(message),
            None => message.label.to_string(),
        }
    }

    /// A message with its payload, as the protocol or the machine writes it.
    pub(crate) fn whole(&self, message: &Message) -> String {
        let payload: Vec<&str> = message.payload.iter().map(|sort| sort.as_str()).collect();
        match &payload[..] {
            [_, ..] if self.name.ends_with(".local") => {
                format!("{}<{}>", message.label, payload.join(", "))
            }
            _ => message.to_string(),
        }
    }
}

impl Fault {
    /// True if an item that is not typed to its end may have the name that is missing.
    pub(crate) fn is_of_missing_item(&self) -> bool {
        matches!(
            self.cause,
            Cause::Name { problem: NameProblem::Unresolved, .. } | Cause::NoMessage { .. }
        )
    }

    /// True for what a part of the session of another role has, most likely.
    pub(crate) fn is_of_role(&self) -> bool {
        matches!(
            self.cause,
            Cause::Name { problem: NameProblem::OwnRole, .. } | Cause::NoRoute { .. }
        )
    }

    /// True if another fault says the same of the same name.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.cause, &other.cause) {
            (Cause::NoMessage { name }, Cause::NoMessage { name: other }) => name == other,
            (Cause::Name { name, problem, .. }, Cause::Name { name: other, problem: of, .. }) => {
                name == other && problem == of
            }
            (
                Cause::NoLabel { name, labels, .. },
                Cause::NoLabel { name: other, labels: of, .. },
            ) => name == other && labels == of,
            (Cause::NoRoute { role, peer, .. }, Cause::NoRoute { role: of, peer: other, .. }) => {
                role == of && peer == other
            }
            (Cause::OtherPayload { name, .. }, Cause::OtherPayload { name: other, .. })
            | (Cause::UnknownLabel { name, .. }, Cause::UnknownLabel { name: other, .. })
            | (Cause::Idle { name }, Cause::Idle { name: other })
            | (Cause::RecursiveAlias { name }, Cause::RecursiveAlias { name: other }) => {
                name == other
            }
            _ => false,
        }
    }
}
