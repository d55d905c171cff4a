//! What is wrong where a rule of subtyping is broken, and what to do: each rule in one place, for
//! the sessions of the build and the machines of the command.

use rumpsteak_fsm::Direction;
use rumpsteak_fsm::subtype::Rule;

/// A broken rule, in the names that the reader knows.
#[derive(Debug)]
pub(super) struct Broken<'a> {
    pub(super) rule: Rule,
    /// What breaks it: "`Kernel`", or "it".
    pub(super) subject: &'a str,
    /// What has it otherwise: "the protocol", or "`old.scr`".
    pub(super) place: &'a str,
    pub(super) role: &'a str,
    /// Whether a loop forgets what is due.
    pub(super) in_loop: bool,
    /// What is done, and what is due; `None` for an end.
    pub(super) done: Option<Deed>,
    pub(super) due: Option<Deed>,
}

/// An action.
#[derive(Debug)]
pub(super) struct Deed {
    pub(super) direction: Direction,
    pub(super) message: String,
    pub(super) peer: String,
}

impl Deed {
    /// "receives `Value` from `S`"
    pub(super) fn told(&self) -> String {
        let Self { message, peer, .. } = self;
        match self.direction {
            Direction::Receive => format!("receives `{message}` from `{peer}`"),
            Direction::Send => format!("sends `{message}` to `{peer}`"),
        }
    }
}

impl Broken<'_> {
    /// What is wrong.
    pub(super) fn sentence(&self) -> String {
        let Self { subject, place, role, .. } = self;
        let told = |deed: &Option<Deed>| deed.as_ref().map_or("ends".to_owned(), Deed::told);
        let (done, due) = (told(&self.done), told(&self.due));
        match self.rule {
            Rule::InputBeforeOutput | Rule::InputsFromOnePeer | Rule::OutputsToOnePeer => {
                format!("{subject} {done} before it {due}")
            }
            Rule::Forgotten if self.in_loop => format!("{subject} repeats itself and never {due}"),
            Rule::Forgotten => {
                format!("{subject} ends, but {place} goes on: `{role}` still {due}")
            }
            Rule::InputNotHandled => {
                let due = self.due.as_ref();
                let (message, peer) = due.map_or(("", ""), |due| (&due.message, &due.peer));
                format!("{subject} does not handle `{message}`, which `{peer}` may send here")
            }
            Rule::InputNotReached | Rule::OutputNotReached => match self.due {
                Some(_) => format!(
                    "{subject} {done} too early: {place} has not decided yet, and may go on with another message"
                ),
                None => format!("{subject} {done}, but {place} of `{role}` has ended here"),
            },
            Rule::OutputNotOffered => format!(
                "{subject} {done}, but here {place} has `{role}` do something else: it {due}"
            ),
            Rule::PayloadDiffers => {
                format!("{subject} {done} with another payload than {place} has")
            }
            other => format!("{subject} {done}, but {place} {due}: {other}"),
        }
    }

    /// What to do.
    pub(super) fn help(&self) -> String {
        let first = match &self.due {
            Some(due) => due.told().replacen("s ", " ", 1),
            None => "end".to_owned(),
        };
        match self.rule {
            Rule::InputBeforeOutput => format!(
                "{first} before this; a send may move ahead of a receive, never a receive ahead of a send"
            ),
            Rule::InputsFromOnePeer => format!(
                "{first} before this; messages from one role arrive in the order in which it sends them"
            ),
            Rule::OutputsToOnePeer => format!(
                "{first} before this; the other role takes messages in the order of the protocol"
            ),
            Rule::Forgotten if self.in_loop => format!("{first} somewhere in the loop"),
            Rule::Forgotten => format!("{first} before `End`"),
            Rule::InputNotHandled => {
                "handle it: a choice that is received (`Branch`) needs an option for every message that may come"
                    .to_owned()
            }
            Rule::InputNotReached | Rule::OutputNotReached => match self.due {
                Some(_) => "do this only after the message that decides".to_owned(),
                None => "end here, or extend the protocol".to_owned(),
            },
            Rule::OutputNotOffered => format!("{first} here, or extend the protocol"),
            Rule::PayloadDiffers => "use the label whose payload is that of the protocol".to_owned(),
            other => other.to_string(),
        }
    }
}
