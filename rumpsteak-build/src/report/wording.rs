//! The texts for all mistakes except refusals, which are in [`refusal`].
//!
//! Each text is plain, for one `compile_error!`. The first line says what is wrong in the words of
//! the user's source, the next lines show the protocol, and the last line says what to do. rustc
//! draws the place.

use std::fmt::Write as _;

use litemap::LiteMap;
use rumpsteak_front::name;
use rumpsteak_front::session::Direction;
use rumpsteak_fsm::run::fold;
use rumpsteak_fsm::verify::Evidence;
use rumpsteak_fsm::{Action, Defect, Message, Run};
use rumpsteak_scribble::{Span, similar};

use super::code::code;
use super::excerpt::Excerpt;
use super::notice::Report;
use super::reordering::ActionText;
use super::{chart, failure, refusal};
use crate::fault::{Blamed, Cause, Fault, Gap, Hangs, NameProblem, Note};
use crate::protocols::{Loaded, Protocols, ScrFile};
use crate::settings::attribute;
use crate::words::{count, list, meant};

/// The text for a mistake.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ErrorText {
    /// The text, of several lines and without colours.
    pub text: String,
    /// The code that `cargo rumpsteak explain` knows.
    pub code: Option<&'static str>,
}

impl ErrorText {
    /// The text with the code after its first line, where rustc has no other place for the code.
    pub fn with_code(&self) -> String {
        let Some(code) = self.code else { return self.text.clone() };
        let headline = self.headline();
        format!("{headline} [{code}]{}", &self.text[headline.len()..])
    }

    pub(crate) fn headline(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }
}

/// The text for a mistake in a module for the protocol at the position `own`.
pub(crate) fn told(fault: &Fault, protocols: &Protocols, own: Option<usize>) -> ErrorText {
    let Fault { cause, note, .. } = fault;
    let mut text = cause_text(cause, protocols, own);
    if let Some(note) = note {
        // One run is enough.
        let is_shown = matches!(cause, Cause::Refused(refusal) if matches!(refusal.refused.evidence, Evidence::Run(_)));
        let name = own.map_or("", |own| protocols.protocols[own].name());
        text.push_str(&note_text(note, name, !is_shown));
    }
    ErrorText { code: code(cause), text }
}

fn file_text(file: &ScrFile) -> String {
    let errors = Report::of_file(file).to_string();
    match (&file.module.diagnostics[..], errors.split_once('\n')) {
        // The first line of the error is the headline.
        ([only], Some((_, excerpt))) => format!("{} [{}]\n\n{excerpt}", only.message, only.code),
        (all, _) => format!("{} errors in {}\n\n{errors}", all.len(), file.shown()),
    }
}

/// The text for a cause. Long because it has one arm for each cause.
fn cause_text(cause: &Cause, protocols: &Protocols, own: Option<usize>) -> String {
    // Some causes are only found in a module for a protocol.
    let own = || {
        let loaded = &protocols.protocols[own.unwrap_or_default()];
        (loaded, &protocols.files[loaded.file])
    };
    match cause {
        Cause::AmbiguousChoice { subject, defect } => match defect {
            Defect::Nondeterministic { action, .. } => format!(
                "two options of one choice have the label `{}`, so that the message does not tell which is meant\n\n\
                 help: give them different labels, or join the two options",
                subject.label(&action.message)
            ),
            other => format!("`{}` is not a session type: {other}", subject.name),
        },
        Cause::BrokenFile { file } => file_text(&protocols.files[*file]),
        Cause::Hangs(found) => hangs(found),
        Cause::Idle { name } => format!(
            "the session `{name}` never does anything: the items that it names lead back to it\n\n\
             help: end it with `End`, or give it an action"
        ),
        Cause::Machine { headline, place, help } => {
            let place = place.as_ref().map(|place| format!("\n\n{}", Excerpt::of_place(place, "")));
            let help = help.as_ref().map(|help| format!("\n\nhelp: {help}"));
            format!("{headline}{}{}", place.unwrap_or_default(), help.unwrap_or_default())
        }
        Cause::Name { name, problem, hint } => name_text(name, *problem, hint.as_deref()),
        Cause::NoLabel { name, message, labels, instead } => {
            let suffixed = format!("{name}Message");
            let help = match labels.contains(&suffixed) {
                true => format!("the message is `{suffixed}`, since `{name}` {instead}"),
                false => meant(name, labels, "the messages are"),
            };
            format!(
                "`{name}` is not a message: `{message}` has no variant `{name}({name})`\n\nhelp: {help}"
            )
        }
        Cause::NoMessage { name } => format!(
            "the module has no message type `{name}`\n\n\
             help: write `#[derive(Message)] enum {name} {{ … }}`, or leave it out of the role: it is generated then"
        ),
        Cause::NoRoute { role, peer, message } => format!(
            "a session of `{role}` has `{peer}` as a peer, and `{role}` has no route to it\n\n\
             help: if another role runs it, name that role in `#[session(…)]`; if not, add the field `#[route({peer})] {}: Channel<{message}>`",
            name::snake(peer)
        ),
        Cause::NotLive { name, reason } => format!(
            "`{name}` follows `{}`, which is not live in every run: {reason}\n\n\
             help: have the role told of each choice, or write `fair` in place of `every_run`: choices are fair then",
            own().0.name()
        ),
        Cause::OtherPayload { name, carried, messages } => {
            other_payload(name, carried.as_deref(), messages, own())
        }
        Cause::OtherProtocol { found, module } => {
            let (of, help) = match module {
                Some(name) => (
                    format!("is for `{name}`"),
                    format!("write `#[protocol({name}::role)]`, or `#[role(\"role\")]`"),
                ),
                None => (
                    "has no protocol".to_owned(),
                    format!(
                        "take this out, or write `#[rumpsteak::protocol({found})]` on the module"
                    ),
                ),
            };
            format!("this role plays a role of `{found}`, and the module {of}\n\nhelp: {help}")
        }
        Cause::OtherSession { names, meant } => {
            let [name, part, other] = &**names;
            let whose = match part == other {
                true => "the session of another role".to_owned(),
                false => format!("a part of `{other}`, the session of another role"),
            };
            let advice = match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "write an item of its own for what this role does here".to_owned(),
            };
            format!("`{name}` goes on here as `{part}`, {whose}\n\nhelp: {advice}")
        }
        Cause::ProtocolDeclaredTwice { wanted, files } => {
            let [first, second] = files.map(|file| protocols.files[file].shown());
            let place = match first == second {
                true => format!("twice in {first}"),
                false => format!("in {first} and in {second}"),
            };
            format!("the protocol `{wanted}` is declared {place}\n\nhelp: rename one of the two")
        }
        Cause::RecursiveAlias { name } => format!(
            "the `type` alias `{name}` contains itself\n\n\
             help: write `struct {name}(…);`, with `Self` where it starts again"
        ),
        Cause::Refused(refusal) => refusal::text(refusal, own()),
        Cause::Setting { name, known } => {
            format!("`{name}` does not exist\n\nhelp: {}", meant(name, known, "there are"))
        }
        Cause::SilentRole { set, role } => format!(
            "`{set}` could not be verified: its role `{role}` has no session\n\n\
             help: write one, `#[session({role})] type …`; without it, the build cannot know what its peers may rely on"
        ),
        Cause::TwoLabels { types, message } => {
            let [first, second] = &**types;
            format!(
                "`{first}` and `{second}` both stand for `{message}`\n\n\
                 help: take one of them out, or give it another `#[label(\"…\")]` or other fields"
            )
        }
        Cause::TwoStructs { role, structs } => {
            let [first, second] = &**structs;
            format!(
                "`{first}` and `{second}` both play `{role}`, which is one participant\n\n\
                 help: take one of them out, or let it play another role; two variants of a role belong to two modules"
            )
        }
        Cause::Family { name, role, reason } => format!(
            "`{name}` may not be safe with every number of `{role}`: {reason}\n\n\
             help: keep the order of the protocol with the family, or write each member as a role in the protocol"
        ),
        Cause::Undecided { subject, limit, fair } => {
            let (setting, value) = (limit.setting(), limit.value().saturating_mul(10));
            let raised = format!("limits({setting} = {value})");
            format!(
                "`{}` could not be verified: {limit}\n\n\
                 note: it may be safe, but the search for a proof was stopped\n\
                 help: keep the session closer to the protocol, or raise the limit:\n      {}{}",
                subject.name,
                attribute(own().0.name(), &raised),
                refusal::fair_note(*fair, None, subject, own().0)
            )
        }
        Cause::UndecidedCapacities { set, reason } => format!(
            "it is not known whether the sessions of `{set}` hang with the room that routes declare: {reason}\n\n\
             help: give each queue that may grow a capacity, and each other one room for all messages that it may hold"
        ),
        Cause::UndecidedSystem { set, reason } => format!(
            "`{set}` could not be verified: {reason}\n\n\
             help: let a role wait for an answer where it runs ahead without bound, or write the protocol in Scribble and let \
             each role be verified by itself"
        ),
        Cause::Unjudged { subject, error } => {
            format!("`{}` could not be verified: {error}", subject.name)
        }
        Cause::UnknownLabel { name, label } => unknown_label(name, label, own()),
        Cause::UnknownProtocol { wanted } => unknown_protocol(wanted, protocols),
        Cause::UnknownRole { wanted } => unknown_role(wanted, own()),
        Cause::UnplayableProtocol { wanted } => format!(
            "the protocol `{wanted}` is there to be called by others: it is `aux` or has parameters\n\n\
             help: name a protocol that calls it"
        ),
        Cause::UnsafeSystem { set, run, blamed, with } => {
            unsafe_system(set, run, blamed.as_ref()) + &several_sessions(with)
        }
        Cause::Unwritable { protocol, reason } => {
            format!("no code can be generated for `{protocol}`: {reason}")
        }
    }
}

fn name_text(name: &str, problem: NameProblem, hint: Option<&str>) -> String {
    let (what, help) = match problem {
        NameProblem::Choice => (
            "is a choice, which is neither a session nor a message",
            format!(
                "write `Select<Role, {name}>` if this role chooses, `Branch<Role, {name}>` if the other one does; \
                 rename the enum if `{name}` is a message here"
            ),
        ),
        NameProblem::ChoiceAmongPeers(constructor) => (
            "has options that name their peers",
            format!("write `{constructor}<{name}>`"),
        ),
        NameProblem::ChoiceOfOnePeer => (
            "has options that do not say with whom the choice is",
            format!(
                "write `Select<Role, {name}>` or `Branch<Role, {name}>`; or among several peers, \
                 `Variant(Send<Role, Label, Then>)` in `{name}`"
            ),
        ),
        NameProblem::Gather(true) => (
            "has the messages of a gather, which come in any order",
            format!("write `Gather<{name}>`"),
        ),
        NameProblem::Gather(false) => (
            "is a choice, and no gather",
            format!(
                "write `Branch<{name}>`; or in `{name}`, a message of each peer, \
                 `Variant(Receive<Role, Label, Self>)`, and last what follows: `All(End)`"
            ),
        ),
        NameProblem::NoChoice => (
            "is not a choice",
            "a choice is an `enum` with one variant for each label".to_owned(),
        ),
        NameProblem::NoRole => (
            "is not a role",
            "a role is generated, or a struct of this module with `#[derive(Role)]`".to_owned(),
        ),
        NameProblem::NoSession => (
            "is not a session",
            "a session is a `type`, a `struct` or an `enum` of this module; `End` ends one".to_owned(),
        ),
        NameProblem::OtherDirection(direction) => {
            let (constructor, does, other, begin) = match direction {
                Direction::Receive => ("Branch", "receives", "sends", "Receive"),
                Direction::Send => ("Select", "sends", "receives", "Send"),
            };
            return format!(
                "`{constructor}` {does}, and an option of `{name}` {other}\n\n\
                 help: let all options begin with `{begin}`; or write `Race<{name}>`, where messages go both ways"
            );
        }
        NameProblem::OwnRole => (
            "plays the role that this session is of, and no role talks to itself",
            "name the role at the other end; or in `#[session(…)]` the role whose session this is".to_owned(),
        ),
        NameProblem::Swapped => {
            ("is not a role, and a role comes before its label", String::new())
        }
        NameProblem::Unresolved => (
            "is not an item of this module",
            "everything that a session names is written here or generated; it is not imported, nor made by a macro".to_owned(),
        ),
    };
    let help = hint.unwrap_or(&help);
    format!("`{name}` {what}\n\nhelp: {help}")
}

fn unknown_protocol(wanted: &str, protocols: &Protocols) -> String {
    let known: Vec<&str> = protocols.declared().map(|(_, name)| name).collect();
    let advice = match &protocols.folders[..] {
        _ if !known.is_empty() => meant(wanted, &known, "the protocols are"),
        [] => "no folder of protocols is named: `.protocols(\"protocols\")` in build.rs".to_owned(),
        folders => format!(
            "write `global protocol {wanted}(role a, role b) {{ … }}` in {}, which build.rs names, or name another folder",
            list(folders)
        ),
    };
    format!("no `.scr` file declares a protocol `{wanted}`\n\nhelp: {advice}")
}

fn unknown_role(wanted: &str, (protocol, file): (&Loaded, &ScrFile)) -> String {
    let roles: Vec<&str> = protocol.protocol.roles().iter().map(|role| role.as_str()).collect();
    let same: Vec<&str> = protocol.roles(wanted).into_iter().map(|role| roles[role]).collect();
    let advice = match same[..] {
        [_, _, ..] => format!("write one of {} as the protocol does", list(same)),
        _ => meant(wanted, &roles, "the roles are"),
    };
    lacks((protocol, file), &format!("role `{wanted}`"), &advice)
}

fn unknown_label(ty: &str, label: &str, (protocol, file): (&Loaded, &ScrFile)) -> String {
    let known = protocol.messages.values().flatten().map(|message| message.label.as_str());
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    known.dedup();
    let advice = match similar(label, &known) {
        Some(name) => format!(
            "did you mean `{name}`? A label is named by its variant, or by `#[label(\"{name}\")]` on the variant"
        ),
        None => meant(label, known, "the messages of the protocol are"),
    };
    let name = if ty == label { String::new() } else { format!(", whose label is `{label}`") };
    lacks((protocol, file), &format!("message `{ty}`{name}"), &advice)
}

fn lacks((protocol, file): (&Loaded, &ScrFile), what: &str, advice: &str) -> String {
    let (name, span) = (protocol.name(), protocol.protocol.name().span);
    let declared = Excerpt::of_spans(&file.module.texts, &[(span, "declared here".to_owned())]);
    format!("the protocol `{name}` has no {what}\n\n{declared}\n\nhelp: {advice}")
}

fn other_payload(
    name: &str,
    payload: Option<&[String]>,
    messages: &[Message],
    (protocol, file): (&Loaded, &ScrFile),
) -> String {
    let carried = match payload {
        None => "carries itself (only a struct without parameters carries its fields)".to_owned(),
        Some([]) => "carries nothing".to_owned(),
        Some(payload) => format!("carries `{}`", payload.join(", ")),
    };
    let wanted: Vec<String> = messages.iter().map(ToString::to_string).collect();
    const MOST: usize = 4;
    let mut places: LiteMap<Span, String> = LiteMap::new();
    for own in &protocol.projections {
        let sent = own.fsm.transitions().filter(|due| messages.contains(&due.action.message));
        let origins = sent.flat_map(|due| own.origins(due.id));
        origins.for_each(|&at| _ = places.insert(at, String::new()));
    }
    let excerpt = Excerpt::of_spans(&file.module.texts, places.as_slice().iter().take(MOST));
    format!(
        "`{name}` {carried}, but the message of the protocol `{}` is {}\n\n{excerpt}\n\n\
         help: change the one or the other; `type <rust> \"path::Type\" from \"crate\" as Name;` in the `.scr` file gives a \
         Rust type a name there",
        protocol.name(),
        list(wanted)
    )
}

fn unsafe_system(set: &str, run: &Run, blamed: Option<&(Blamed, Vec<(String, usize)>)>) -> String {
    let failure = failure(run);
    let mut help = "a role that waits must wait for what another one sends, and what is sent must be received in the \
                    order in which it comes";
    let mut notes = String::new();
    let told = |action: &Action| {
        ActionText::new(action, action.message.label.to_string(), action.peer.as_str()).told()
    };
    let wait = |wait: &usize| {
        let due = run.waits[*wait].transitions.iter().map(|(_, due)| told(due));
        due.collect::<Vec<_>>().join(" or ")
    };
    let session = blamed.map_or("", |(_, sessions)| &sessions[0].0);
    let mut text = match blamed.map(|(blamed, sessions)| (blamed, &sessions[1..])) {
        Some((Blamed::Circle(waits), others)) => {
            help = "let one of these roles send before it receives";
            for (number, (session, line)) in waits[1..].iter().zip(others) {
                let _ = writeln!(notes, "note: `{session}` {}, in line {line}", wait(number));
            }
            format!(
                "`{session}` {}, which sends it only after it {}: the system of `{set}` {failure}",
                wait(&waits[0]),
                wait(&waits[1])
            )
        }
        Some((Blamed::Step(step), _)) => {
            let deed = told(&run.steps[*step].action);
            format!("`{session}` {deed}, and the system of `{set}` {failure}")
        }
        Some((Blamed::Unsent(number), _)) => {
            let deed = wait(number);
            format!("`{session}` {deed}, which never sends it: the system of `{set}` {failure}")
        }
        Some((Blamed::Dead, _)) => {
            help = "receive it behind what it answers";
            format!("`{session}` may wait for this in vain: the system of `{set}` {failure}")
        }
        None => format!("the system of `{set}` {failure}"),
    };
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "\n\nthe shortest run that does, with the sessions of all roles as they are written:\n\n{}\n\n\
         {notes}help: {help}",
        run.chart().trim_end()
    );
    text
}

/// Advice about a run with these sessions of roles that have several.
fn several_sessions(with: &[String]) -> String {
    if with.is_empty() {
        return String::new();
    }
    format!(
        "\nhelp: this is so with {}, of a role that has several sessions: one that is only a part of another has no \
         `#[session(…)]`",
        list(with)
    )
}

fn hangs(Hangs { queue, most, hang, roles, enough, with }: &Hangs) -> String {
    const DRAWN: usize = 60;
    let which = if hang.is_shortest { "the shortest run" } else { "a run" };
    let run = match hang.steps.len() > DRAWN {
        true => fold(&hang.steps),
        false => chart(hang.steps.clone(), roles.clone()),
    };
    let waits: String = hang.waits.iter().map(|wait| format!("  {wait}\n")).collect();
    let advice = match enough {
        Some(enough) => format!(
            "`capacity = {enough}` in each route that declares less is enough, and so much room in its queue; or let a role \
             receive before it sends so much"
        ),
        None => "let one of these roles receive before it sends so much: more room may not help"
            .to_owned(),
    };
    format!(
        "with room for {} in {queue}, the sessions hang: {hang}\n\n{which} that leads there, with the \
         sessions of all roles as they are written:\n\n{run}\n{waits}\nhelp: {advice}{}",
        count(*most, "message"),
        several_sessions(with)
    )
}

fn note_text(note: &Note, protocol: &str, shows_run: bool) -> String {
    let reason = match note {
        Note::Acceptable(bound) => {
            return format!(
                "\n\nnote: together with the sessions of all other roles as they are written here, it is safe \
                 ({bound}-multiparty compatible)\n\
                 help: if no other program plays a role of `{protocol}`, accept that:\n      {}",
                attribute(protocol, "accept_closed_system")
            );
        }
        Note::Useless(Gap::Undecided(reason)) => {
            format!("it is not known whether all sessions together are safe: {reason}")
        }
        Note::Useless(Gap::Unsafe(run, named)) => {
            let which =
                if named.is_empty() { String::new() } else { format!(", with {},", list(named)) };
            let run_text =
                if shows_run { format!(":\n\n{}", run.chart().trim_end()) } else { String::new() };
            format!(
                "the system of all sessions as they are written{which} {}{run_text}",
                failure(run)
            )
        }
    };
    format!("\n\nnote: `accept_closed_system` does not help: {reason}")
}
