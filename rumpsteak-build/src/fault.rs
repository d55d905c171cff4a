//! What is wrong with an item, as a value: the rooms from [`link`](crate::link) to
//! [`judge`](crate::judge) make it, [`outcome`](crate::outcome) decides where it is raised, and
//! [`report`](crate::report) has the words.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rumpsteak_contract::name;
use rumpsteak_contract::session::Direction;
use rumpsteak_contract::verdict::RoleName;
use rumpsteak_fsm::repair::Misfit;
use rumpsteak_fsm::verify::{Refused, VerifyError};
use rumpsteak_fsm::{Action, Defect, Limit, Message, Role, Run, TransitionId};
use rumpsteak_scribble::{Span, similar};

use crate::gravity::Gravity;
use crate::named_text::NamedText;
use crate::protocols::{Lookup, ProtocolRole, Protocols};
use crate::source::crate_tree::ItemId;

/// A token of an item of the Rust source.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Place {
    pub(crate) item: ItemId,
    pub(crate) token: usize,
}

/// Something wrong with an item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) cause: Cause,
    /// What is known of the closed system of the protocol that refuses the session.
    pub(crate) note: Option<Note>,
    /// What stands in for the item that the fault is about, as the runtime's `stub!` takes it.
    pub(crate) stub: Option<String>,
}

/// What is wrong. Files, protocols and their roles are positions in
/// [`Protocols`](crate::protocols::Protocols); names and paths are as written in Rust.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cause {
    /// Two options of one choice have the same label.
    AmbiguousChoice { subject: Box<Subject>, defect: Defect },
    /// A file of protocols has errors.
    BrokenFile { file: usize },
    /// The reason is that a file of protocols has errors.
    DependsOnFile { name: String, file: usize },
    /// Elsewhere is said what is wrong with this: an item, a closed system, a module, an import.
    SaidOf { name: String },
    /// A session does nothing and leads back to itself.
    Idle { name: String },
    /// A second `protocol!(…)` of one protocol in a crate, and the module of the first one.
    IncludedTwice { name: String, first: String },
    /// A file beside a `.scr` file is no machine for the role that it is named after.
    Machine { file: String, problem: MachineProblem },
    /// A name does not stand for what it should stand for.
    Name {
        path: String,
        problem: NameProblem,
        /// A name of the crate that is nearly the same; or the other roles of the other target.
        meant: Option<String>,
    },
    /// The build script was not asked for the code of this protocol.
    NotGenerated { wanted: String },
    /// A label of a message type is declared nowhere: a struct like this one.
    Undeclared { path: String, declaration: String },
    /// Nothing has this name, which should be that of a role: one of these.
    UndeclaredRole { path: String, roles: Vec<String> },
    /// The protocol neglects the role of a session, or is not known not to, and build.rs refuses
    /// that.
    NotLive { name: String, protocol: usize, reason: String },
    /// A role has no route to a peer of its session, which has one to it. One may be added of this
    /// type, unless the field that has the name of the peer leads to another one.
    NoRoute { role: String, peer: String, message: String, added: Result<String, String> },
    /// The type of a route cannot be one, or is one of other messages.
    OtherRoute { ty: String, message: String, is_channel: bool },
    /// A type at this place is a session, and nothing says so. The code of a protocol beside it may
    /// be left out for that: without it, rustc knows nothing of the words in the type.
    Unmarked { name: String, place: String, role: Option<String>, leaves_out: bool },
    /// Another item of the module has this name.
    DeclaredTwice { name: String },
    /// What a role names as its message type is none.
    NoMessage { path: String },
    /// A label of the role has this name, and arguments.
    GenericLabel { path: String, label: String },
    /// A type that is no message of the role.
    NoLabel { path: String, role: RoleName, hint: LabelHint },
    /// A label carries another payload than the messages of its name.
    OtherPayload {
        path: String,
        carried: Option<Vec<String>>,
        messages: Vec<Message>,
        protocol: usize,
    },
    /// A session goes on as a part of a session of another role: their names. Another name may be
    /// meant.
    OtherSession { names: Box<[String; 3]>, meant: Option<String> },
    /// The peer is a role of another protocol than `role`, which the session plays.
    OtherProtocol { path: String, peer: String, role: RoleName },
    /// Two structs each of which has the name of the role that the other one plays, where a session
    /// is refused: with what they play.
    Exchanged(Box<[(String, RoleName); 2]>),
    /// Several protocols have this name, in the first two of these files.
    ProtocolDeclaredTwice { wanted: String, files: [usize; 2] },
    /// A `type` contains itself.
    RecursiveAlias { name: String },
    /// These sessions are refused, and all fit if the recursion of this name begins again behind
    /// this message.
    Discontinued { protocol: usize, sessions: Vec<String>, variable: String, behind: Span },
    /// The session is no subtype of its projection.
    Refused(Box<Refusal>),
    /// A role of a closed system has no session.
    SilentRole { set: String, role: String },
    /// The session has more items than this.
    TooManyItems { most: usize },
    /// An item means different things in different sessions.
    TwoMeanings { name: String },
    /// A limit left undecided whether the session is a subtype of its projection.
    Undecided {
        subject: Box<Subject>,
        limit: Limit,
        /// Whether it is one in the fair relation.
        fair: bool,
    },
    /// It is not known whether the closed system is safe.
    UndecidedSystem { set: String, reason: String },
    /// The projections make no system.
    Unjudged { subject: Box<Subject>, error: VerifyError },
    /// No message of the protocol has the name of the label; one may be meant for which there is no
    /// other label.
    UnknownLabel { path: String, label: String, meant: Option<String>, protocol: usize },
    /// A role has routes to two structs that play the same role, or to one that plays its own.
    /// Nothing plays the idle roles of the protocol.
    TwoStructs { role: RoleName, structs: Box<[String; 2]>, idle: Vec<String> },
    /// No protocol has this name; one has nearly the same.
    UnknownProtocol { wanted: String, meant: Option<String> },
    /// The protocol has no such role, or several of which none is written like this.
    UnknownRole { wanted: String, protocol: usize },
    /// The module uses these names of the runtime, by their paths there, and does not import them;
    /// where it does first.
    Unimported { names: Vec<&'static str>, place: String },
    /// The protocol is there to be called by others only.
    UnplayableProtocol { wanted: String },
    /// The closed system is not safe, and the sessions by these names do, at these lines, what is
    /// to blame. With these sessions, where a role has several.
    UnsafeSystem {
        set: String,
        run: Box<Run>,
        blamed: Option<(Blamed, Vec<[String; 2]>)>,
        with: Vec<String>,
    },
    /// The protocol cannot be said in Rust.
    Unwritable { protocol: String, reason: String },
}

/// What a type that is no message of the role was most likely meant to be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum LabelHint {
    /// A message that no variant of the enum of this name has.
    Added(String),
    /// One of these labels, which are generated.
    AnyOf(Vec<String>),
    /// The message whose variant carries this type, no struct of its name.
    Bare(String),
    /// The label that carries this type.
    CarriedBy(String),
    /// The message whose variant carries this type, and not the struct of its name, which is there.
    Other(String),
    /// The struct in the variant of this name.
    Renamed(String),
    /// This label, which no message of the protocol has the name of; and the message that has the
    /// old name.
    RenamedLabel(Box<[String; 2]>),
    /// The label of nearly this name.
    Similar(String),
}

/// What is wrong with a name in a session, or in a set that is verified as a closed system.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NameProblem {
    /// It is declared more than once.
    Ambiguous,
    /// It is an item of a set that has an error of its own.
    Broken,
    /// It is a choice where a session should be.
    Choice,
    /// It is a choice where a label should be.
    ChoiceAsLabel,
    /// It is a choice among peers, and something else names the peer.
    ChoiceAmongPeers,
    /// It is a choice towards one peer, which nothing names.
    ChoiceOfOnePeer,
    /// It is a role of another target.
    ForeignRole,
    /// It is a role of a set that plays a role of a protocol.
    HasProtocol,
    /// It is a role of a set, and of another set.
    InAnotherSet,
    /// It is a label where a choice should be.
    Label,
    /// It is a module.
    Module,
    /// It is no role.
    NoRole,
    /// It is no role that a set could have.
    NoRoleForSet,
    /// It is no session.
    NoSession,
    /// It is a role of a set of another crate.
    OtherCrate,
    /// It is a choice where messages go this way, and it has an option in which one goes the other
    /// way.
    OtherDirection(Direction),
    /// It is of another package.
    OtherPackage,
    /// It is the role that the session is of.
    OwnRole,
    /// It is this struct, which is no role.
    PlainStruct(ItemId),
    /// It is a part of a session, and a process runs it.
    Roleless,
    /// It is this role, which has no link to a protocol.
    RoleWithoutLink(ItemId),
    /// It is a session where a choice should be.
    Session,
    /// It is a label where the role should be, and the role comes after it.
    Swapped,
    /// It is not declared in the source.
    Unresolved,
}

/// Why a file beside a `.scr` file is no machine for the role that it is named after.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) subject: Subject,
    /// The action of the session that is refused, if it is one.
    pub(crate) action: Option<(TransitionId, Action)>,
    /// Why it has no place, if there is a simpler reason than the order.
    pub(crate) misfit: Option<Misfit>,
    pub(crate) refused: Refused,
    /// Whether it is one in the fair relation.
    pub(crate) fair: bool,
    /// Whether the role of a whole choice is the other one's in the protocol: it should branch
    /// where it selects, or select where it branches.
    pub(crate) is_turned: bool,
    /// Whether its role has other sessions.
    pub(crate) has_siblings: bool,
    /// The struct of another role that has no session, and which it fits.
    pub(crate) fits: Option<String>,
    /// The sessions of the other roles with which it goes wrong. Empty if it does so with what the
    /// protocol says.
    pub(crate) with: Vec<String>,
    /// Where it is in a part that is right in another session: the part, the line there, and the
    /// other session.
    pub(crate) part: Option<[String; 3]>,
    /// Of the second session of a protocol that is refused in a crate, the names of the others that
    /// are, too: most likely the protocol was changed.
    pub(crate) others: Option<Vec<String>>,
    /// The state in which a machine begins, and the one from which on it would fit.
    pub(crate) begins: Option<[String; 2]>,
    /// The part of itself as which a session would fit, where it goes on as another one.
    pub(crate) right_part: Option<String>,
    /// The text of the machine with the place to blame, for one that lies beside a `.scr` file.
    pub(crate) machine: Option<(Arc<NamedText>, Range<usize>)>,
}

impl Refusal {
    /// What is refused, of which nothing else is known.
    pub(crate) fn new(subject: Subject, refused: Refused) -> Self {
        Self {
            subject,
            action: None,
            misfit: None,
            refused,
            fair: false,
            is_turned: false,
            has_siblings: false,
            fits: None,
            with: Vec::new(),
            part: None,
            others: None,
            begins: None,
            right_part: None,
            machine: None,
        }
    }
}

/// What is known of all sessions of a protocol together, one of which its projection refuses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Note {
    pub(crate) protocol: String,
    pub(crate) found: NoteKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoteKind {
    /// They are a safe closed system with this bound, and the build script may accept that.
    Acceptable(usize),
    /// The build script accepts a safe closed system, and they are none.
    Useless(Gap),
}

/// What is to blame for a run.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
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

impl Place {
    pub(crate) fn new(item: ItemId, token: usize) -> Self {
        Self { item, token }
    }
}

impl Cause {
    pub(crate) fn at(self, item: ItemId, token: usize) -> Fault {
        let stub = self.stub();
        Fault { place: Place::new(item, token), cause: self, note: None, stub }
    }

    /// What stands in for what is missing, where the cause says that by itself.
    pub(crate) fn stub(&self) -> Option<String> {
        match self {
            Self::Unimported { names, .. } => Some(format!("import {}", names.join(" "))),
            Self::NoRoute { message, .. } | Self::OtherRoute { message, .. } => {
                Some(format!("instead {message}"))
            }
            Self::UnknownProtocol { meant: Some(meant), .. } => {
                Some(format!("instead {}", name::snake(meant)))
            }
            // The code is not what the processes are written for.
            Self::Machine { .. }
            | Self::Unwritable { .. }
            | Self::Unmarked { leaves_out: true, .. } => Some("nothing".to_owned()),
            Self::DeclaredTwice { .. } | Self::Unmarked { .. } => Some("unmarked".to_owned()),
            Self::Undeclared { declaration, .. } => Some(format!("label {declaration}")),
            _ => None,
        }
    }

    /// The protocol that a name stands for, by position.
    pub(crate) fn unless_found(
        protocols: &Protocols,
        lookup: Lookup,
        wanted: &str,
    ) -> Result<usize, Self> {
        let wanted = wanted.to_owned();
        Err(match lookup {
            Lookup::Found(position) => return Ok(position),
            Lookup::Broken(file) => Self::BrokenFile { file },
            Lookup::Several(first, second) => {
                let files = [first, second];
                Self::ProtocolDeclaredTwice { wanted, files }
            }
            Lookup::Unknown => {
                let known: Vec<&str> = protocols.names().collect();
                let meant = similar(&wanted, &known).map(str::to_owned);
                Self::UnknownProtocol { wanted, meant }
            }
            Lookup::Unplayable => Self::UnplayableProtocol { wanted },
        })
    }

    /// Whether a file of protocols is wrong, whose errors are reported.
    pub(crate) fn is_of_file(&self) -> bool {
        matches!(self, Self::BrokenFile { .. } | Self::DependsOnFile { .. })
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

    /// Whether the macro of another item says what is wrong, so that there is one error for one
    /// mistake.
    pub(crate) fn is_echo(&self) -> bool {
        matches!(self, Self::SaidOf { .. } | Self::DependsOnFile { .. })
    }

    pub(crate) fn gravity(&self) -> Gravity {
        match self {
            Self::Undecided { .. } | Self::UndecidedSystem { .. } => Gravity::Undecided,
            _ if self.is_of_file() || self.is_echo() => Gravity::Undecided,
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
