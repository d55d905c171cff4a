//! The texts for all faults of items but refusals, on one page.
//!
//! Each text is that of one `compile_error!`: plain, the first line says what is wrong in the words
//! of the user's source, the next lines what the protocol says, and the last one what to do. The
//! place, which rustc draws, is not repeated. Refusals by subtyping are in
//! [`refusal`].

use std::fmt::Write as _;

use rumpsteak_contract::name;
use rumpsteak_contract::session::Direction;
use rumpsteak_fsm::verify::Evidence;
use rumpsteak_fsm::{Action, Defect, Message, Run};
use rumpsteak_scribble::similar;

use super::build_report::Report;
use super::code::code;
use super::excerpt::{Excerpt, declared_here, sent_here};
use super::refusal;
use super::rules::Deed;
use super::runs::failure;
use crate::configuration::raised;
use crate::fault::{Blamed, Cause, Gap, LabelHint, MachineProblem, NameProblem, Note, NoteKind};
use crate::outcome::findings::Told;
use crate::protocols::{Loaded, Protocols, ScrFile};
use crate::words::{either, list};

/// What is said of what is wrong with an item.
pub(crate) fn told(cause: &Cause, note: Option<&Note>, protocols: &Protocols) -> Told {
    let mut text = cause_text(cause, protocols);
    if let Some(note) = note {
        // One run is enough.
        let is_shown = matches!(cause, Cause::Refused(refusal) if matches!(refusal.refused.evidence, Evidence::Run(_)));
        text.push_str(&note_text(note, !is_shown, protocols));
    }
    Told { code: code(cause), text }
}

/// All errors of a file.
fn file_text(file: &ScrFile) -> String {
    let errors = Report::of_file(file).to_string();
    match (&file.diagnostics[..], errors.split_once('\n')) {
        // Its own first line is the headline, as that of all other errors.
        ([only], Some((_, excerpt))) => format!("{} [{}]\n\n{excerpt}", only.message, only.code),
        (all, _) => format!("{} errors in {}\n\n{errors}", all.len(), file.shown()),
    }
}

/// The text for a cause. Long because it has one arm for each cause.
fn cause_text(cause: &Cause, protocols: &Protocols) -> String {
    let loaded = |protocol: usize| {
        let loaded = &protocols.protocols[protocol];
        (loaded, &protocols.files[loaded.file])
    };
    match cause {
        Cause::AmbiguousChoice { subject, defect } => match defect {
            Defect::Nondeterministic { action, .. } => format!(
                "two options of one choice have the label `{}`, so that the message does not tell which is meant\n\n\
                 help: give them different labels, or join the two options",
                subject.label(&action.message)
            ),
            other => format!("`{}` is no session type: {other}", subject.name),
        },
        Cause::Discontinued { protocol, sessions, variable, behind } => {
            refusal::discontinued(loaded(*protocol), sessions, variable, *behind)
        }
        Cause::SaidOf { name } => format!("not verified: the error about `{name}` says why"),
        Cause::BrokenFile { file } => file_text(&protocols.files[*file]),
        Cause::DependsOnFile { name, file } => {
            let file = protocols.files[*file].shown();
            format!("`{name}` is not verified, because {file} has errors")
        }
        Cause::Idle { name } => format!(
            "the session `{name}` never does anything: the items that it names lead back to it\n\n\
             help: end it with `End`, or give it an action"
        ),
        Cause::IncludedTwice { name, first } => format!(
            "a second `protocol!({name})` in this crate: its roles would be other types than those of the first\n\n\
             help: take it out, and import from `{first}`, the module of the first one"
        ),
        Cause::Machine { file, problem } => machine_text(file, problem),
        Cause::Unmarked { name, place, role, .. } => {
            let session = match role {
                Some(role) => format!("put `#[session({role})]` on it"),
                None => "put `#[session(Role)]` on it if a role runs it, `#[session]` if it is a part of one".to_owned(),
            };
            format!("`{name}` ({place}) is no session\n\nhelp: {session}")
        }
        Cause::Name { path, problem: NameProblem::Unresolved, meant: Some(meant) }
            if meant.contains("::") =>
        {
            format!("`{path}` is not imported\n\nhelp: add `use {meant};`")
        }
        Cause::Name { path, problem: NameProblem::Swapped, meant: Some(meant) } => {
            format!("`{path}` is no role, and a role comes before its label\n\nhelp: `{meant}`")
        }
        Cause::Name { path, problem: NameProblem::ForeignRole, meant: Some(others) } => {
            foreign_role_text(path, Some(others))
        }
        Cause::Name { path, meant: Some(meant), .. } => format!(
            "`{path}` is not declared in the source of this package\n\nhelp: did you mean `{meant}`?"
        ),
        Cause::Name { path, problem, meant: None } => name_text(path, *problem),
        Cause::NoRoute { role, peer, added: Err(other), .. } => format!(
            "a session of `{role}` has `{peer}` as a peer, and the field `{}` of `{role}` leads to `{other}`\n\n\
             help: `#[route({peer})]` before that field",
            name::snake(peer)
        ),
        Cause::NoRoute { role, peer, added: Ok(ty), .. } => format!(
            "a session of `{role}` has `{peer}` as a peer, and `{role}` has no route to it\n\n\
             help: add the field `#[route({peer})] {}: {ty}`",
            name::snake(peer)
        ),
        Cause::OtherRoute { ty, message, is_channel: true } => format!(
            "`{ty}` carries other messages than `{message}`, which are those of the role\n\n\
             help: `Channel<{message}>`"
        ),
        Cause::OtherRoute { ty, message, .. } => format!(
            "`{ty}` is no route: a route both sends and receives, by itself\n\n\
             help: use `Channel<{message}>`, or wrap a sink and a stream: `Bidirectional<Tx, Rx>`, with `Nil` for a half \
             that is not needed"
        ),
        Cause::DeclaredTwice { name } => format!(
            "a second `{name}` in this module\n\nhelp: give it a name of its own, or remove one of the two"
        ),
        Cause::NotGenerated { wanted } => format!(
            "the build script generates no code for `{wanted}`\n\n\
             help: call `generate` in build.rs: `{}`",
            protocols.script("generate()")
        ),
        Cause::NotLive { name, protocol, reason } => {
            let protocol = loaded(*protocol).0.name();
            format!(
                "`{name}` follows `{protocol}`, which is not live in every run: {reason}\n\n\
                 help: have the role told of each choice, or give up in build.rs that it is served in every run: \
                 `rumpsteak_build::Liveness::Fair`"
            )
        }
        Cause::NoMessage { path } => {
            format!("`{path}` is no message type\n\nhelp: put `#[derive(Message)]` on it")
        }
        Cause::GenericLabel { path, label } => {
            let name = last(path);
            let help = match label.contains('\'') {
                true => format!(
                    "let `{name}` own what it carries: `struct {name}(String);`, for instance"
                ),
                false => format!(
                    "make `{path}` a type of its own for what it carries: `struct {name}(…);`"
                ),
            };
            format!(
                "the label is `{label}`, and a session names a label without arguments\n\nhelp: {help}"
            )
        }
        Cause::NoLabel { path, role, hint } => {
            let [reason, help] = no_label(last(path), hint);
            let role = role.written();
            format!(
                "`{path}` is no message of the role that plays `{role}`{reason}\n\nhelp: {help}"
            )
        }
        Cause::OtherPayload { path, carried, messages, protocol } => {
            other_payload(path, carried.as_deref(), messages, loaded(*protocol))
        }
        Cause::OtherProtocol { path, peer, role } => format!(
            "`{path}` is a role of another protocol: it plays `{peer}`, this session plays `{0}`\n\n\
             help: name the struct that plays a role of `{1}`",
            role.written(),
            role.protocol
        ),
        Cause::ProtocolDeclaredTwice { wanted, files } => {
            let [first, second] = files.map(|file| protocols.files[file].shown());
            let place = if first == second {
                format!("twice in {first}")
            } else {
                format!("in {first} and in {second}")
            };
            format!("the protocol `{wanted}` is declared {place}\n\nhelp: rename one of the two")
        }
        Cause::RecursiveAlias { name } => format!(
            "the `type` alias `{name}` contains itself\n\n\
             help: below the same attribute, write `struct {name}(…);`, with `Self` where it starts again"
        ),
        Cause::Refused(refusal) => refusal::text(refusal, protocols),
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
        Cause::SilentRole { set, role } => format!(
            "`{set}` could not be verified: its role `{role}` has no session\n\n\
             help: write one, `#[session({role})] type …`; without it, nobody knows what its peers may rely on"
        ),
        Cause::TooManyItems { most } => format!(
            "this session consists of more than {most} items, which is more than the build script reads\n\n\
             help: split it, or raise that in build.rs: `{}`",
            protocols.script(&raised("items", *most))
        ),
        Cause::TwoMeanings { name } => format!(
            "`{name}` is a part of sessions for which its names have different meanings\n\n\
             note: a label has the name that the message enum of the role gives it, and the roles that use `{name}` have \
             different enums\n\
             help: write the item once for each role"
        ),
        Cause::TwoStructs { role, structs, idle } => {
            let [first, second] = &**structs;
            let advice = match &idle[..] {
                [] => "name only one of them in the routes of a role; two variants of a role belong to two sets of roles".to_owned(),
                idle => format!("no struct plays {}: does one of the two?", either(idle)),
            };
            format!(
                "`{first}` and `{second}` both play `{role}`, which is one participant\n\nhelp: {advice}"
            )
        }
        Cause::Exchanged(structs) => {
            let [(first, plays), (second, other)] = &**structs;
            format!(
                "`{first}` plays `{}`, and `{second}` plays `{}`: are their `#[protocol(…)]` exchanged?\n\n\
                 note: as they are, sessions of `{}` are refused\n\
                 help: if so, exchange them; if not, give the structs other names, and the sessions say what is wrong",
                plays.role, other.role, plays.protocol
            )
        }
        Cause::Undecided { subject, limit: stopped, fair } => format!(
            "`{}` could not be verified: {stopped}\n\n\
             note: it may be safe, but the search for a proof was stopped\n\
             help: keep the session closer to the protocol, or raise the limit in build.rs:\n      {}{}",
            subject.name,
            protocols.script(&raised(stopped.setting(), stopped.value())),
            refusal::fair_note(*fair, None, subject, protocols)
        ),
        Cause::UndecidedSystem { set, reason } => format!(
            "`{set}` could not be verified: {reason}\n\n\
             help: let a role wait for an answer where it runs ahead without bound, or write the protocol in Scribble and let \
             each role be verified by itself"
        ),
        Cause::Unjudged { subject, error } => {
            format!("`{}` could not be verified: {error}", subject.name)
        }
        Cause::Unimported { names, place } => {
            let are = if names.len() == 1 { "is" } else { "are" };
            let imported = match &names[..] {
                [name] => (*name).to_owned(),
                names => format!("{{{}}}", names.join(", ")),
            };
            format!(
                "{} {are} not imported ({place})\n\nhelp: add `use rumpsteak_runtime::{imported};`",
                list(names.iter().map(|path| last(path)))
            )
        }
        Cause::Undeclared { path, declaration } => format!(
            "`{path}` is not declared in the source of this package\n\nhelp: declare the label: `{declaration}`"
        ),
        Cause::UndeclaredRole { path, roles } => format!(
            "`{path}` is not declared in the source of this package\n\n\
             help: the roles are {}: was `{}` renamed to one of them? Otherwise declare it",
            list(roles.iter().map(String::as_str)),
            last(path)
        ),
        Cause::UnknownLabel { path, label, meant, protocol } => {
            unknown_label(path, label, meant.as_deref(), loaded(*protocol))
        }
        Cause::UnknownProtocol { wanted, meant } => {
            unknown_protocol(wanted, meant.as_deref(), protocols)
        }
        Cause::UnknownRole { wanted, protocol } => unknown_role(wanted, loaded(*protocol)),
        Cause::UnplayableProtocol { wanted } => format!(
            "the protocol `{wanted}` is there to be called by others: it is `aux` or has parameters\n\n\
             help: link the role to a protocol that calls it"
        ),
        Cause::UnsafeSystem { set, run, blamed, with } => {
            let mut text = unsafe_system(set, run, blamed.as_ref());
            if !with.is_empty() {
                let with = list(with);
                let _ = write!(
                    text,
                    "\nhelp: this is so with {with}, of a role that has several sessions: one that is only a part of another \
                     has `#[session]` without a role"
                );
            }
            text
        }
        Cause::Unwritable { protocol, reason } => {
            format!("no code can be generated for `{protocol}`: {reason}")
        }
    }
}

/// The text for a name that stands for something else. Long because it has one arm for each
/// problem.
fn name_text(path: &str, problem: NameProblem) -> String {
    match problem {
        NameProblem::Ambiguous => format!(
            "`{path}` is declared more than once, under conditions that the build script cannot tell apart\n\n\
             note: it knows features and the target (`cfg(feature = …)`, `cfg(target_os = …)`), but not `cfg(test)` and the like\n\
             help: give the two different names, or put the condition on a feature"
        ),
        NameProblem::Broken => format!("`{path}` has an error, so the set is not verified"),
        NameProblem::Choice => format!(
            "`{path}` is a choice, which is no session by itself\n\n\
             help: write `Select<Role, {path}>` if this role chooses, `Branch<Role, {path}>` if the other one does"
        ),
        NameProblem::ChoiceAsLabel => format!(
            "`{path}` is a choice, and one message stands here\n\n\
             help: write `Select<Role, {path}>` if this role chooses, `Branch<Role, {path}>` if the other one does"
        ),
        NameProblem::Label => format!(
            "`{path}` is one message, and a choice stands here\n\n\
             help: write `Send<Role, {path}, Then>` or `Receive<Role, {path}, Then>`"
        ),
        NameProblem::ChoiceAmongPeers => format!(
            "the options of `{path}` name their peers\n\n\
             help: write `Select<{path}>` if this role chooses, `Branch<{path}>` if the others do"
        ),
        NameProblem::ChoiceOfOnePeer => format!(
            "with whom is this choice? The options of `{path}` do not say so\n\n\
             help: write `Select<Role, {path}>` or `Branch<Role, {path}>`; or among several peers, \
             `Variant(Send<Role, Label, Then>)` in `{path}`"
        ),
        NameProblem::ForeignRole => foreign_role_text(path, None),
        NameProblem::HasProtocol => format!(
            "`{path}` plays a role of a protocol, and this set has none\n\n\
             help: take `#[closed_system]` off the set, or `#[protocol(…)]` off its roles"
        ),
        NameProblem::InAnotherSet => {
            format!("`{path}` is in a set already\n\nhelp: verify a role with one set of peers")
        }
        NameProblem::Module => format!("`{path}` is a module, not a type"),
        NameProblem::NoRole | NameProblem::PlainStruct(_) | NameProblem::Swapped => format!(
            "`{path}` is no role\n\nhelp: a role is a struct with `#[derive(Role)]` and `#[protocol(…)]`"
        ),
        NameProblem::NoRoleForSet => format!(
            "`{path}` is no role that the build script knows\n\n\
             help: a role is a struct with `#[derive(Role)]` in a module of this crate"
        ),
        NameProblem::NoSession => format!(
            "`{path}` is no session\n\n\
             help: put `#[session(Role)]` on it if a role runs it, `#[session]` if it is a part of one; `End` ends a session"
        ),
        NameProblem::OtherCrate => format!(
            "`{path}` is of another crate\n\n\
             help: keep the set, its roles and their sessions in one crate, so that all of them are seen"
        ),
        NameProblem::OtherDirection(direction) => {
            let (constructor, does, other, begin) = match direction {
                Direction::Receive => ("Branch", "receives", "sends", "Receive"),
                Direction::Send => ("Select", "sends", "receives", "Send"),
            };
            format!(
                "`{constructor}` {does}, and an option of `{path}` {other}\n\n\
                 help: let all options begin with `{begin}`; or write `Race<{path}>`, where messages go both ways"
            )
        }
        NameProblem::OtherPackage => format!(
            "`{path}` is of another package, or made by a macro, and the build script reads the source of this package alone\n\n\
             help: declare roles and their sessions in one package, and use the verified sessions elsewhere; only labels and \
             payloads may be of other packages"
        ),
        NameProblem::OwnRole => format!(
            "`{path}` plays the role that this session is of, and no role talks to itself\n\n\
             help: name the role at the other end; or in `#[session(…)]` the role whose session this is"
        ),
        NameProblem::Roleless => format!(
            "a process runs `{path}`, and its `#[session]` names no role\n\n\
             help: name the one that runs it: `#[session(Role)] type {path} = …`"
        ),
        NameProblem::RoleWithoutLink(_) => format!(
            "the role `{path}` is linked to no protocol\n\n\
             help: put `#[protocol(Protocol::role)]` on the struct, with the names of the `.scr` file; roles without such a \
             file are verified together, by `#[closed_system]` on the struct with `#[derive(Roles)]`"
        ),
        NameProblem::Session => format!(
            "`{path}` is a session, not a choice\n\nhelp: a choice is a `#[session] enum` with one variant for each label"
        ),
        NameProblem::Unresolved => format!(
            "`{path}` is not declared in the source of this package\n\n\
             note: the build script reads the source as it is written; it knows neither items that a macro makes nor those of \
             other packages\n\
             help: declare `{}` in this package, or import it by `use`; if it is a role of another package, its sessions are \
             written there",
            last(path)
        ),
    }
}

/// The text for a role of another target; `others` are those of which the same is said there.
fn foreign_role_text(path: &str, others: Option<&str>) -> String {
    let note = others.map_or_else(String::new, |others| {
        format!("note: so {} {others}\n", if others.contains("` and `") { "are" } else { "is" })
    });
    let sessions = if others.is_some() { "these sessions" } else { "this session" };
    let them = if others.is_some() { "them" } else { "it" };
    format!(
        "the role `{path}` is declared in another target of this package, and a role's sessions stand beside it\n\n\
         {note}help: declare {sessions} there and use {them} here, or declare a role of this target's own"
    )
}

fn machine_text(file: &str, problem: &MachineProblem) -> String {
    match problem {
        MachineProblem::Defect(defect) => {
            format!("the machine in {file} is no session type: {defect}")
        }
        MachineProblem::Misnamed { reason, help } => {
            format!("the machine in {file} is not used, because {reason}\n\nhelp: {help}")
        }
        MachineProblem::NoMachine { text, span, message } => {
            let excerpt = Excerpt::of_place(text, span.clone(), "");
            format!("cannot read {file}: {message}\n\n{excerpt}")
        }
        MachineProblem::Foreign { text, span, message, help } => {
            let excerpt = Excerpt::of_place(text, span.clone(), "");
            format!("the machine in {file}: {message}\n\n{excerpt}\n\nhelp: {help}")
        }
        MachineProblem::Number { number, role } => format!(
            "{file} holds {number} machines\n\nhelp: keep the machine of `{role}` there, and nothing else"
        ),
        MachineProblem::OtherRole { found, role } => format!(
            "the machine in {file} is that of `{found}`, but the file is named after `{role}`\n\n\
             help: rename one of the two"
        ),
        MachineProblem::Twice { role, other } => format!(
            "two machines for the role `{role}`: {file} and {other}\n\nhelp: remove one of the two"
        ),
        MachineProblem::Unreadable(error) => format!("cannot read {file}: {error}"),
    }
}

/// The name at the end of a path.
fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// Why a type is no message, as far as that shows, and what to write instead.
fn no_label(label: &str, hint: &LabelHint) -> [String; 2] {
    match hint {
        LabelHint::Added(message) => [
            String::new(),
            format!(
                "add the variant `{label}({label})` to `{message}`, the enum in its `#[message(…)]`"
            ),
        ],
        LabelHint::AnyOf(all) => [String::new(), format!("its protocol has {}", list(all))],
        LabelHint::Bare(carried) => [
            format!(": its variant carries `{carried}`"),
            format!(
                "a variant carries the struct of its label: `{label}({label})`, with `struct {label}({carried});`"
            ),
        ],
        LabelHint::Other(carried) => [
            format!(": its variant carries `{carried}`"),
            format!("a variant carries the struct of its label: `{label}({label})`"),
        ],
        LabelHint::CarriedBy(meant) => [
            format!(", but the payload of `{meant}`"),
            format!("write `{meant}`: a session names the labels"),
        ],
        LabelHint::Renamed(carried) => [
            format!(": its variant carries `{carried}`"),
            format!("write `{carried}`, as in the variant, or rename that to `{label}`"),
        ],
        LabelHint::RenamedLabel(renamed) => {
            let [label, message] = &**renamed;
            let help = format!(
                "did you mean `{label}`? The protocol still says `{message}`: rename that, too, or keep it by \
                 `#[label(\"{message}\")]` on the variant"
            );
            [String::new(), help]
        }
        LabelHint::Similar(meant) => [String::new(), format!("did you mean `{meant}`?")],
    }
}

fn unknown_protocol(wanted: &str, meant: Option<&str>, protocols: &Protocols) -> String {
    let advice = match (meant, &protocols.folders[..], protocols.others.first()) {
        (Some(name), ..) => format!("did you mean `{name}`?"),
        _ if protocols.names().next().is_some() => {
            format!("the protocols are {}", list(protocols.names()))
        }
        _ if !protocols.files.is_empty() => format!(
            "{} declares none: write `global protocol {wanted}(role a, role b) {{ … }}` there",
            protocols.files[0].shown()
        ),
        (_, [], _) => {
            "no folder of protocols is named: `.protocols(\"protocols\")` in build.rs".to_owned()
        }
        (_, _, Some(other)) => {
            format!("{other} is not read: the name of a file of protocols ends in `.scr`")
        }
        (_, folders, None) => format!(
            "there is no `.scr` file in {}, which build.rs names: write the protocol there, or name its folder",
            list(folders.iter().map(String::as_str))
        ),
    };
    format!("no `.scr` file declares a protocol `{wanted}`\n\nhelp: {advice}")
}

fn unknown_role(wanted: &str, (protocol, file): (&Loaded, &ScrFile)) -> String {
    let roles: Vec<&str> = protocol.protocol.roles().iter().map(|role| role.as_str()).collect();
    let advice = match (&protocol.roles(wanted)[..], similar(wanted, &roles)) {
        ([_, _, ..], _) => {
            let same = protocol.roles(wanted).into_iter();
            let same = same.map(|role| roles[role]);
            format!("write one of {} as the protocol does", list(same))
        }
        (_, Some(role)) => format!("did you mean `{}::{role}`?", protocol.name()),
        (_, None) => format!("the roles are {}", list(roles)),
    };
    format!(
        "the protocol `{}` has no role `{wanted}`\n\n{}\n\nhelp: {advice}",
        protocol.name(),
        declared_here(protocol, file)
    )
}

fn unknown_label(
    path: &str,
    label: &str,
    meant: Option<&str>,
    (protocol, file): (&Loaded, &ScrFile),
) -> String {
    let advice = match meant {
        Some(name) => format!(
            "did you mean `{name}`? A label is named by its variant, or by `#[label(\"{name}\")]` on the variant"
        ),
        None => format!("the messages of the protocol are {}", list(protocol.messages.keys())),
    };
    let name =
        if last(path) == label { String::new() } else { format!(", whose label is `{label}`") };
    format!(
        "the protocol `{}` has no message `{path}`{name}\n\n{}\n\nhelp: {advice}",
        protocol.name(),
        declared_here(protocol, file)
    )
}

fn other_payload(
    path: &str,
    payload: Option<&[String]>,
    messages: &[Message],
    (protocol, file): (&Loaded, &ScrFile),
) -> String {
    let carried = match payload {
        Some([]) => "carries nothing".to_owned(),
        Some(payload) => format!("carries `{}`", payload.join(", ")),
        None => "carries something else".to_owned(),
    };
    let wanted: Vec<String> = messages.iter().map(ToString::to_string).collect();
    let sorts = messages.iter().flat_map(|message| &message.payload);
    let sorts: Vec<&str> = sorts.map(|sort| sort.as_str()).collect();
    let mut types = payload.into_iter().flatten().filter(|ty| !sorts.contains(&ty.as_str()));
    let meant = types.find_map(|ty| Some((ty, similar(ty, &sorts)?)));
    let meant = meant.map_or(String::new(), |(ty, sort)| {
        format!("help: did you mean `{ty}` by `{sort}`, or the other way round?\n")
    });
    let excerpt = sent_here((protocol, file), |due| messages.contains(&due.message));
    format!(
        "`{path}` {carried}, but the message of the protocol `{}` is {}\n\n{excerpt}\n\n{meant}\
         help: change the one or the other; `type <rust> \"path::Type\" from \"crate\" as Name;` in the `.scr` file gives a \
         Rust type a name there",
        protocol.name(),
        list(wanted)
    )
}

fn unsafe_system(set: &str, run: &Run, blamed: Option<&(Blamed, Vec<[String; 2]>)>) -> String {
    let failure = failure(run);
    let mut help = "a role that waits must wait for what another one sends, and what is sent must be received in the \
                    order in which it comes";
    let mut notes = String::new();
    let told = |Action { direction, peer, message }: &Action| {
        let (label, whole) = (message.label.to_string(), message.to_string());
        Deed { direction: *direction, message: label, whole, peer: peer.to_string() }.told()
    };
    let wait = |wait: &usize| {
        let due = run.waits[*wait].transitions.iter().map(|(_, due)| told(due));
        due.collect::<Vec<_>>().join(" or ")
    };
    let session = blamed.map_or("", |(_, sessions)| &sessions[0][0]);
    let mut text = match blamed.map(|(blamed, sessions)| (blamed, &sessions[1..])) {
        Some((Blamed::Circle(waits), others)) => {
            help = "let one of these roles send before it receives";
            for (number, [session, line]) in waits[1..].iter().zip(others) {
                let _ = writeln!(notes, "note: `{session}` {}, at {line}", wait(number));
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

fn note_text(note: &Note, shows_run: bool, protocols: &Protocols) -> String {
    let name = &note.protocol;
    let gap = match &note.found {
        NoteKind::Acceptable(bound) => {
            return format!(
                "\n\nnote: together with the sessions of all other roles as they are written here, it is safe \
                 ({bound}-multiparty compatible)\n\
                 help: if no other program plays a role of `{name}`, accept that in build.rs:\n      {}",
                protocols.script(&format!("accept_closed_system({name:?})"))
            );
        }
        NoteKind::Useless(gap) => gap,
    };
    let reason = match gap {
        Gap::Silent(role) => format!(
            "the role `{role}` has no session in this package, so that it is not known what the others meet"
        ),
        Gap::Undecided(reason) => {
            format!("it is not known whether all sessions together are safe: {reason}")
        }
        Gap::Unread(session) => format!(
            "the session `{session}` has an error, so that it is not known what the others meet"
        ),
        Gap::Unsafe(run, named) => {
            let which = match &named[..] {
                [] => String::new(),
                named => format!(", with {},", list(named)),
            };
            let run_text =
                if shows_run { format!(":\n\n{}", run.chart().trim_end()) } else { String::new() };
            format!(
                "the system of all sessions as they are written{which} {}{run_text}",
                failure(run)
            )
        }
    };
    format!("\n\nnote: `accept_closed_system({name:?})` does not help: {reason}")
}
