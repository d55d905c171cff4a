//! `optimise`: which other order of a role's actions is faster, and proven safe?

mod data;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rumpsteak_build::command::{
    Notice, chart, count, gravest, list, optimised_items, split_way_out,
};
use rumpsteak_fsm::run::Step;
use rumpsteak_fsm::verify::VerifyError;
use rumpsteak_fsm::{Action, Defect, Fsm, Role, TransitionId, dot};
use rumpsteak_optimise::cost::{Event, Work};
use rumpsteak_optimise::{
    Costs, Options, Proposal, Proposals, Together, propose, propose_together,
};
use rumpsteak_scribble::{Projection, Protocol};
use serde_json::{Value, json};

use self::data::Data;
use crate::modules::{self, Module};
use crate::{Answer, Outcome, Reader, Reply, Scribble, Terminal, json, positive};

/// Proposes orders of a role's sends and receives that are faster, and proven safe
#[derive(Debug, Args)]
#[command(after_help = include_str!("optimise.txt").trim_ascii_end())]
pub(crate) struct Arguments {
    /// The Scribble file; `-` is standard input
    file: PathBuf,
    /// The role whose order to change
    #[arg(long, value_name = "ROLE", required_unless_present = "all_roles")]
    role: Option<String>,
    /// Change the orders of all roles together
    #[arg(long, conflicts_with = "role")]
    all_roles: bool,
    #[command(flatten)]
    scribble: Scribble,
    /// The form of a proposal to print [default: all]
    #[arg(long, value_enum, value_name = "FORM")]
    format: Option<Format>,
    /// Print the N best proposals
    #[arg(long, value_name = "N", default_value_t = 1)]
    show: usize,
    /// Try at most N orders for each role
    #[arg(long, value_name = "N", default_value_t = Options::default().candidates)]
    budget: usize,
    /// Send at most N messages to a peer before their turn
    #[arg(long, value_name = "N", default_value_t = Options::default().window, value_parser = positive)]
    window: usize,
    /// The time from send to arrival of a message: N for all, FROM:TO=N for one direction
    #[arg(long, value_name = "[FROM:TO=]N", value_parser = latency)]
    latency: Vec<Latency>,
    /// Assume that payloads are independent, unless the protocol says otherwise
    #[arg(long)]
    assume_independent: bool,
    /// The time that a send or a receive takes its role
    #[arg(long, value_name = "N", default_value_t = 1)]
    work: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The machine, for Graphviz
    Dot,
    /// The session type, for the protocol's module in Rust
    Alias,
    /// The first steps, before and after
    Chart,
    /// One JSON object
    Json,
}

impl Arguments {
    /// Returns true if standard output is to be a file for another tool.
    fn is_file(&self) -> bool {
        matches!(self.format, Some(Format::Dot | Format::Alias))
    }

    /// Prints a sentence about the answer: on standard error if standard output is a file.
    fn say(&self, text: &str, terminal: &mut Terminal) {
        if self.is_file() { terminal.remark(text.trim_start()) } else { terminal.say(text) }
    }
}

/// `5`, or `s:k=5`: the roles, and the time.
type Latency = (Option<(Role, Role)>, u64);

fn latency(text: &str) -> Result<Latency, String> {
    let number = |text: &str| {
        // Times are added up, and the sum must not overflow.
        let time = text.parse().ok().filter(|&time| time <= 1_000_000_000_u64);
        time.ok_or_else(|| format!("`{text}` is not a time between 0 and 1000000000"))
    };
    match text.split_once('=') {
        None => Ok((None, number(text)?)),
        Some((link, time)) => {
            let unnamed = || format!("`{link}` does not name two roles: write `FROM:TO=N`");
            let (from, to) = link.split_once(':').ok_or_else(unnamed)?;
            Ok((Some((from.into(), to.into())), number(time)?))
        }
    }
}

pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Reply {
    terminal.is_json = arguments.format == Some(Format::Json);
    let Scribble { protocol, reading } = &arguments.scribble;
    let module = modules::read(&mut Reader::default(), &arguments.file, reading)?;
    let (protocol, projections) = match module.projected(protocol.as_deref(), terminal)? {
        Ok(projected) => projected,
        Err(found) => {
            let first = found.first().map(|found| found.message.as_str());
            return Ok(Answer::because(gravest(&found), first.unwrap_or_default()));
        }
    };
    let known = |role: &Role| {
        let message = format!("`{}` has no role `{role}`", protocol.name());
        modules::position(role, protocol.roles(), message)
    };
    let role = arguments.role.as_deref().map(|role| known(&role.into())).transpose()?;
    for (from, to) in arguments.latency.iter().filter_map(|(between, _)| between.as_ref()) {
        known(from)?;
        known(to)?;
    }
    // The last option about this link decides, or else the last option about all links.
    let latency = |from: &Role, to: &Role| {
        let is_link = |(a, b): &(Role, Role)| (a, b) == (from, to);
        let all = || arguments.latency.iter().rev();
        let link = all().find(|(between, _)| between.as_ref().is_some_and(is_link));
        link.or_else(|| all().find(|(between, _)| between.is_none())).map_or(1, |(_, time)| *time)
    };
    if !protocol.counts(&projections) {
        let reason = "undecided: the members of the family are judged in the protocol's order";
        terminal.say_notice(&Notice::error(reason));
        return Ok(Answer::because(Outcome::Undecided, reason));
    }
    let data = |of: &Projection| Data::new(&module, of, arguments.assume_independent);
    let optimiser = Optimiser {
        arguments,
        module: &module,
        protocol,
        costs: Costs { latency: &latency, work: arguments.work },
        options: Options {
            candidates: arguments.budget,
            window: arguments.window,
            limits: reading.limits.verifier(),
            ..Options::default()
        },
        data: projections.iter().map(data).collect(),
        machines: projections.into_iter().map(|projection| projection.fsm).collect(),
    };
    let reply = match role {
        Some(position) => optimiser.one(position, terminal),
        None => optimiser.all(terminal),
    };
    Ok(reply.unwrap_or_else(|error| impossible(&error, terminal)))
}

/// The answer for a role that cannot be judged.
fn impossible(error: &VerifyError, terminal: &mut Terminal) -> Answer {
    let (text, by_hand) = match error {
        VerifyError::Machine(error) => (error.defect.to_string(), Some(BY_HAND)),
        error => (error.to_string(), None),
    };
    let (text, way_out) = split_way_out(&text);
    let notice = Notice::error(format!("undecided whether another order is faster: {text}"));
    terminal.say_notice(&notice.maybe_help(by_hand.or(way_out)));
    Answer::because(Outcome::Undecided, text)
}

const BY_HAND: &str =
    "write another order by hand: the build judges it together with all other roles";

/// The verdict on a role without a faster order, and the reason.
fn not_faster(role: &Role, found: &Proposals) -> (Outcome, String) {
    let tried = count(found.candidates, "order");
    if found.cut || found.undecided > 0 {
        return (Outcome::Undecided, not_all(&format!(" of `{role}`"), &tried));
    }
    let reason = match (found.candidates, found.refused) {
        (0, _) => "it sends nothing that could come before a receive".to_owned(),
        (_, 0) => format!("none of {tried} tried saves time"),
        (_, refused) => {
            format!("of {tried} tried, {refused} may not take the place of what the protocol says")
        }
    };
    (Outcome::Fails, format!("no order of `{role}` is faster: {reason}"))
}

struct Optimiser<'a> {
    arguments: &'a Arguments,
    module: &'a Module,
    protocol: &'a Protocol,
    costs: Costs<'a>,
    options: Options,
    machines: Vec<Fsm>,
    /// The dependencies of each role's sends.
    data: Vec<Data>,
}

impl Optimiser<'_> {
    fn one(&self, position: usize, terminal: &mut Terminal) -> Result<Answer, VerifyError> {
        let role = self.machines[position].role();
        let found = self.search(position, &[])?;
        let faster = found.proposals.iter().filter(|proposal| proposal.time < found.time);
        let faster: Vec<&Proposal> = faster.collect();
        let (number, tried) = (faster.len(), count(found.candidates, "order"));
        let verdict = if number == 0 {
            not_faster(role, &found)
        } else {
            let all = match number > self.arguments.show {
                true => format!("; `--show {number}` prints them all"),
                false => String::new(),
            };
            let (orders, protocol) = (count(number, "order"), self.protocol.name());
            let summary = format!(
                "`{role}` of `{protocol}`: {orders} faster and proven, of {tried} tried{all}"
            );
            (Outcome::Holds, summary)
        };
        let objects = faster.iter().zip(1..);
        let objects = objects.map(|(proposal, number)| self.object(found.time, proposal, number));
        let more = json!({
            "role": role.as_str(),
            "time": found.time,
            "tried": found.candidates,
            "proposals": objects.collect::<Vec<_>>(),
        });
        let assumed = self.assumed(position, &found)?;
        let reply = self.reply(verdict, more, terminal);
        for (number, proposal) in (1..).zip(faster).take(self.arguments.show) {
            let gain = gain(found.time, proposal.time, self.costs.work);
            let summary = format!("\n{number}. {}: {gain}\n", windows(proposal));
            self.arguments.say(&summary, terminal);
            self.say_machine(&proposal.fsm, number, terminal);
            let mut system = self.machines.clone();
            system[position] = proposal.fsm.clone();
            self.say_chart(&system, terminal);
        }
        if let Some(note) = assumed.filter(|_| !terminal.is_json) {
            terminal.report(&note);
        }
        Ok(reply)
    }

    /// The orders of a role. Sends that are `free` are taken to depend on nothing.
    fn search(&self, position: usize, free: &[&Action]) -> Result<Proposals, VerifyError> {
        let depends = |send: &_, receive: &_| self.data[position].depends(send, receive, free);
        let role = self.machines[position].role();
        propose(&self.machines, role, &depends, &self.costs, &self.options)
    }

    /// A note about the dependencies that are assumed, if an order is faster without them.
    fn assumed(&self, position: usize, found: &Proposals) -> Result<Option<Notice>, VerifyError> {
        /// So many messages are tried one by one.
        const MOST: usize = 8;
        let role = self.machines[position].role();
        let assumed = self.data[position].assumed();
        let Some(first) = assumed.first() else { return Ok(None) };
        let best = |found: &Proposals| found.proposals.first().map_or(found.time, |best| best.time);
        let free = self.search(position, &assumed)?;
        if best(&free) >= best(found) {
            let is_known = best(found) == found.time && not_faster(role, &free).0 == Outcome::Fails;
            let none = || Notice::note("with `--assume-independent` none is faster either");
            return Ok(is_known.then(none));
        }
        let mut alone = Vec::new();
        for send in assumed.iter().take(MOST) {
            if best(&self.search(position, &[send])?) < best(found) {
                alone.push(*send);
            }
        }
        let example = *alone.first().unwrap_or(first);
        let source = self.data[position].source(example).unwrap_or_default();
        let interaction = |send: &Action| format!("{} from {role} to {}", send.message, send.peer);
        let example = interaction(example);
        let alone: Vec<String> = alone.into_iter().map(interaction).collect();
        let (sends, is, each) = match alone.len() {
            0 => (format!("what `{role}` sends"), "is", "each message"),
            1 => (list(&alone), "is", "it"),
            _ => (list(&alone), "are", "each of them"),
        };
        let note = Notice::note(format!(
            "{sends} {is} taken to be made from what `{role}` has received before in the round: without that an order is faster"
        ));
        Ok(Some(note.help(format!(
            "say behind the interaction what {each} is made from, or must not come before: \
             `{example}; @\"depends: {source}\"` if that is `{source}`, `@\"depends:\"` if it is none; or for all messages with `--assume-independent`"
        ))))
    }

    fn all(&self, terminal: &mut Terminal) -> Result<Answer, VerifyError> {
        let depends = |position: usize, send: &_, receive: &_| {
            self.data[position].depends(send, receive, &[])
        };
        let found = propose_together(&self.machines, &depends, &self.costs, &self.options)?;
        let tried = count(found.candidates, "order");
        let roles = self.of_roles(&found);
        let verdict = if found.after < found.before {
            let gain = gain(found.before, found.after, self.costs.work);
            let protocol = self.protocol.name();
            (Outcome::Holds, format!("all roles of `{protocol}` together: {gain}, {tried} tried"))
        } else if roles.iter().any(|(_, outcome, _)| *outcome == Outcome::Undecided) {
            (Outcome::Undecided, not_all("", &tried))
        } else {
            (Outcome::Fails, format!("no order of any role is faster, of {tried} tried"))
        };
        let system = self.machines.iter().zip(&found.proposals);
        let system = system.map(|(own, found)| found.as_ref().map_or(own, |found| &found.fsm));
        let system: Vec<Fsm> = system.cloned().collect();
        let proposals = || found.proposals.iter().flatten();
        let objects = proposals().map(|proposal| self.object(found.before, proposal, 1));
        let of_roles = roles.iter().map(|(role, outcome, reason)| {
            json!({"role": role.as_str(), "verdict": outcome.verdict(), "reason": reason})
        });
        let more = json!({
            "role": null,
            "time": found.before,
            "after": found.after,
            "tried": found.candidates,
            "proposals": objects.collect::<Vec<_>>(),
            "roles": of_roles.collect::<Vec<_>>(),
        });
        let reply = self.reply(verdict, more, terminal);
        if reply.outcome == Outcome::Holds {
            for proposal in proposals() {
                let summary = format!("\n`{}`: {}\n", proposal.fsm.role(), windows(proposal));
                self.arguments.say(&summary, terminal);
                self.say_machine(&proposal.fsm, 1, terminal);
            }
            self.say_chart(&system, terminal);
        }
        for (number, reason) in roles.into_iter().filter_map(|(.., reason)| reason).enumerate() {
            let apart = if number == 0 { "\n" } else { "" };
            self.arguments.say(&format!("{apart}{reason}\n"), terminal);
        }
        Ok(reply)
    }

    /// The verdict on each role, and the reason if it has no proposal.
    fn of_roles(&self, found: &Together) -> Vec<(Role, Outcome, Option<String>)> {
        let roles = self.machines.iter().zip(&found.proposals).zip(&found.roles);
        let of_role = |((fsm, proposal), found): ((&Fsm, &Option<_>), &Result<_, Defect>)| {
            let role = fsm.role();
            let (outcome, reason) = match found {
                _ if proposal.is_some() => return (role.clone(), Outcome::Holds, None),
                Ok(found) => not_faster(role, found),
                Err(defect) => {
                    let text = defect.to_string();
                    let why = split_way_out(&text).0;
                    let reason = format!("no other order of `{role}` is tried: {why}; {BY_HAND}");
                    (Outcome::Undecided, reason)
                }
            };
            (role.clone(), outcome, Some(reason))
        };
        roles.map(of_role).collect()
    }

    /// The answer. Prints the summary, which is the reason if nothing is faster.
    fn reply(
        &self,
        (outcome, summary): (Outcome, String),
        more: Value,
        terminal: &mut Terminal,
    ) -> Answer {
        self.arguments.say(&format!("{summary}\n"), terminal);
        let reason = Some(summary).filter(|_| outcome != Outcome::Holds);
        let answer = Answer::new(outcome).with("reason", reason);
        let answer = answer.with("protocol", self.protocol.name().as_str());
        Answer { object: json::joined(answer.object, more), ..answer }
    }

    fn wants(&self, format: Format) -> bool {
        self.arguments.format.is_none_or(|wanted| wanted == format)
    }

    fn say_machine(&self, fsm: &Fsm, number: usize, terminal: &mut Terminal) {
        let apart = if self.arguments.is_file() { "" } else { "\n" };
        let dot = self.wants(Format::Dot).then(|| dot::print(fsm));
        let alias = self.wants(Format::Alias).then(|| self.alias(fsm, number));
        for form in [dot, alias].into_iter().flatten() {
            terminal.say(&format!("{apart}{form}"));
        }
    }

    fn alias(&self, fsm: &Fsm, number: usize) -> String {
        // Every proposal is a session type.
        optimised_items(&self.module.contents, self.protocol, fsm, number).unwrap_or_default()
    }

    /// Prints the steps of both orders from their first difference on, if that was asked for.
    fn say_chart(&self, system: &[Fsm], terminal: &mut Terminal) {
        /// As many steps as fit beside each other on a screen.
        const MOST: usize = 12;
        if !self.wants(Format::Chart) {
            return;
        }
        let work = Work::new(&self.machines);
        let events = |machines: &[Fsm]| work.events(machines, &self.costs, usize::MAX);
        let (before, after) = (events(&self.machines), events(system));
        let start = start(&before, &after, MOST);
        let draw = |events: Vec<Event>| {
            let events: Vec<Event> = events.into_iter().skip(start).take(MOST).collect();
            let (first, last) =
                (events.first().map_or(0, |it| it.time), events.last().map_or(0, |it| it.time));
            let times = match start {
                0 => format!("up to time {last}"),
                _ => format!("from time {first} to {last}"),
            };
            let states = system.iter().map(|fsm| (fsm.role().clone(), fsm.initial()));
            let transition = TransitionId::from_index(0);
            let step = |Event { role, action, .. }: Event| Step { role, transition, action };
            let shown = chart(events.into_iter().map(step).collect(), states.collect());
            format!("{times}:\n{shown}\n")
        };
        terminal.say(&format!("\nbefore, {}after, {}", draw(before), draw(after)));
    }

    fn object(&self, before: u64, proposal: &Proposal, number: usize) -> Value {
        let windows = proposal.windows.iter();
        let window = |(peer, most): &(Role, _)| json!({"peer": peer.as_str(), "messages": most});
        json!({
            "role": proposal.fsm.role().as_str(),
            "windows": windows.map(window).collect::<Vec<_>>(),
            "before": before,
            "after": proposal.time,
            "pending": proposal.pending,
            "machine": json::machine(&proposal.fsm),
            "dot": dot::print(&proposal.fsm),
            "alias": self.alias(&proposal.fsm, number),
        })
    }
}

/// The number of steps to leave out of two runs, so that their first difference is among the next
/// `most` steps: none if possible, or else as many as come before the difference's round.
fn start(before: &[Event], after: &[Event], most: usize) -> usize {
    let done = |event: &Event| (event.role.clone(), event.action.clone());
    let mut both = before.iter().zip(after);
    let different = both.position(|(before, after)| done(before) != done(after));
    let Some(different) = different.filter(|different| *different >= most) else { return 0 };
    let first = done(&before[0]);
    let round = before[..different].iter().rposition(|event| done(event) == first);
    round.unwrap_or_default().max(different + 1 - most)
}

fn not_all(whose: &str, tried: &str) -> String {
    format!("no faster order{whose} was found among {tried}, which are not all")
}

/// `up to 1 message to `s` before its turn`.
fn windows(proposal: &Proposal) -> String {
    let windows = proposal.windows.iter();
    let windows = windows.map(|(peer, most)| format!("{} to `{peer}`", count(*most, "message")));
    let windows = windows.collect::<Vec<_>>().join(" and ");
    let sum: usize = proposal.windows.iter().map(|(_, most)| most).sum();
    format!("up to {windows} before {} turn", if sum == 1 { "its" } else { "their" })
}

/// `20 % less time (480 instead of 600; an action takes 1)`.
fn gain(before: u64, after: u64, work: u64) -> String {
    let percent = (before.saturating_sub(after) * 100 + before / 2) / before.max(1);
    format!("{percent} % less time ({after} instead of {before}; an action takes {work})")
}
