//! `compat`: may roles of a new version of a protocol join peers that still run the old one?

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use rumpsteak_build::command::{
    Notice, among_peers, either, gravest, list, proven, split_way_out, visible,
};
use rumpsteak_fsm::verify::together::{Part, together};
use rumpsteak_fsm::verify::{Accepted, Evidence, VerifyError};
use rumpsteak_fsm::{Fsm, Limits, Role, Verdict, verify};
use rumpsteak_scribble::Protocol;
use serde_json::{Value, json};

use crate::comparison::{Comparison, undecided};
use crate::machines::{Machine, of_projections};
use crate::{Answer, Outcome, Output, Reader, Reply, Scribble, Terminal, modules};

/// Tells whether roles built from NEW may join peers that still run OLD
#[derive(Debug, Args)]
#[command(after_help = include_str!("compat.txt").trim_ascii_end())]
pub(crate) struct Arguments {
    /// The Scribble file that the peers run; `-` is standard input
    old: PathBuf,
    /// The Scribble file that the role is built from
    new: PathBuf,
    /// Only this role
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    #[command(flatten)]
    scribble: Scribble,
    /// Let a role run at most N actions ahead of the other version, for each hundred states
    #[arg(long, value_name = "N", default_value_t = Limits::default().anticipation)]
    bound: usize,
    /// Compare at most N actions
    #[arg(long, value_name = "N", default_value_t = Limits::default().steps)]
    steps: usize,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Reply {
    terminal.is_json = arguments.output.json();
    let mut reader = Reader::default();
    let Scribble { protocol, reading } = &arguments.scribble;
    let mut read = |path| modules::read(&mut reader, path, reading);
    let modules = [read(&arguments.old)?, read(&arguments.new)?];
    let (mut versions, mut wrong) = (vec![], Outcome::Holds);
    for module in &modules {
        match module.projected(protocol.as_deref(), terminal)? {
            Ok((protocol, projections)) => versions.push(Version {
                name: module.name(),
                protocol,
                machines: of_projections(module, protocol.judged(projections)),
            }),
            Err(found) => wrong = wrong.max(gravest(&found)),
        }
    }
    let [old, new] = &versions[..] else {
        // Only versions that are safe by themselves can be compared.
        let outcome = if wrong == Outcome::Fails { Outcome::BadInput } else { wrong };
        return Ok(Answer::because(outcome, "a version has errors of its own"));
    };
    let fixed = |of: &Version<'_>, role| of.protocol.members(role).filter(|number| *number > 0);
    let numbers = |role| Some((role, fixed(old, role)?, fixed(new, role)?));
    let mut numbers = old.protocol.roles().iter().filter_map(numbers);
    if let Some((role, old, new)) = numbers.find(|(_, old, new)| old != new) {
        let reason = format!(
            "the family `{role}` has {old} members in the old version, and {new} in the new one"
        );
        terminal.say_notice(&Notice::error(&reason).help("upgrade all roles together"));
        return Ok(Answer::because(Outcome::Fails, reason));
    }
    let limits = reading.limits.verifier().anticipation(arguments.bound).steps(arguments.steps);
    // The roles of the old version, and then those that only the new one has.
    let added = new.machines.iter().filter(|of| old.machine(of.fsm.role()).is_none());
    let roles = old.machines.iter().chain(added).map(|of| of.fsm.role().clone()).collect();
    let upgrade = Upgrade { old, new, roles, limits };
    let asked = match arguments.role.as_deref().map(Role::from) {
        None => upgrade.roles.clone(),
        Some(role) => {
            let message = format!("neither version has a role `{role}`");
            modules::position(&role, &upgrade.roles, message)?;
            vec![role]
        }
    };
    let answers: Vec<RoleAnswer<'_>> = asked.iter().map(|role| upgrade.answer(role)).collect();
    upgrade.say(&answers, terminal);
    let objects = answers.iter().map(|RoleAnswer { role, change, join, stay, .. }| {
        let (join, stay) = (&join.answer.object, &stay.answer.object);
        json!({"role": role.as_str(), "change": change, "join": join, "stay": stay})
    });
    let objects: Value = objects.collect();
    let mut gravest = Answer::new(Outcome::Holds);
    let mut joining = vec![];
    for RoleAnswer { role, join, .. } in answers {
        if join.answer.outcome > gravest.outcome {
            gravest = join.answer;
        }
        joining.extend(join.accepted.map(|accepted| (role, accepted)));
    }
    if gravest.outcome == Outcome::Holds
        && arguments.role.is_none()
        && let Some(mix) = upgrade.wrong_mix(&joining)
    {
        gravest = mix.answer;
        mix.report.iter().for_each(|report| terminal.say_notice(report));
    }
    Ok(gravest.with("old", old.name).with("new", new.name).with("roles", objects))
}

struct Version<'a> {
    name: &'a str,
    protocol: &'a Protocol,
    machines: Vec<Machine>,
}

impl Version<'_> {
    fn machine(&self, role: &Role) -> Option<&Machine> {
        self.machines.iter().find(|machine| machine.fsm.role() == role)
    }

    /// The machine of `role` in this version. It does nothing if the role has no part in it.
    fn machine_or_idle(&self, role: &Role) -> Machine {
        let idle = || Machine::idle(role.clone(), self.name.to_owned());
        self.machine(role).cloned().unwrap_or_else(idle)
    }
}

struct RoleAnswer<'a> {
    role: &'a Role,
    /// `same`, `changed`, `added` or `removed`.
    change: &'static str,
    /// May it join peers that run the old version?
    join: Question,
    /// May it stay as it is while its peers run the new one?
    stay: Question,
    /// The line to print if it may join.
    line: String,
}

struct Question {
    answer: Answer,
    /// The report, unless the answer is yes.
    report: Option<Notice>,
    /// The roles in the refusal that only one version has.
    strangers: Vec<Role>,
    /// The proof, if the answer is yes and the role has changed.
    accepted: Option<Accepted>,
}

impl Question {
    /// The answer yes, with its proof unless the role is the same.
    fn holds(accepted: Option<Accepted>) -> Self {
        let bound = accepted.as_ref().map_or(Some(0), |found| found.proof.as_ref()?.anticipation);
        Self { answer: Answer::holds(bound), report: None, strangers: vec![], accepted }
    }

    fn other((report, answer): (Notice, Answer)) -> Self {
        Self { answer, report: Some(report), strangers: vec![], accepted: None }
    }
}

/// The two versions of a protocol.
struct Upgrade<'a> {
    old: &'a Version<'a>,
    new: &'a Version<'a>,
    /// The roles of both.
    roles: Vec<Role>,
    limits: Limits,
}

impl Upgrade<'_> {
    fn answer<'a>(&self, role: &'a Role) -> RoleAnswer<'a> {
        let Self { old, new, .. } = self;
        let change = match (old.machine(role), new.machine(role)) {
            (None, _) => "added",
            (_, None) => "removed",
            (Some(old), Some(new)) if old.fsm == new.fsm => "same",
            _ => "changed",
        };
        let mut join = self.direction(role, new, old);
        let stay = self.direction(role, old, new);
        if join.answer.outcome == Outcome::Fails {
            let together = format!("upgrade `{role}` together with its peers");
            let (old, new) = (old.name, new.name);
            let way_out = match (change, stay.answer.outcome) {
                ("added", _) => format!("start `{role}` when all of its peers run `{new}`"),
                ("removed", Outcome::Holds) => {
                    format!("let `{role}` of `{old}` run until all of its peers run `{new}`")
                }
                (_, Outcome::Holds) => format!(
                    "upgrade `{role}` last: as it is in `{old}` it may stay while its peers run `{new}`"
                ),
                (_, Outcome::Undecided) => format!("{together}: whether it may stay is undecided"),
                _ => format!("{together}: as it is in `{old}` it may not stay either"),
            };
            join.report = join.report.map(|report| report.help(way_out));
        }
        let (old, new) = (visible(old.name), visible(new.name));
        let proof = join.accepted.as_ref().map_or_else(String::new, proven);
        let line = match change {
            "same" => format!("`{role}` is the same in both\n"),
            "removed" => format!("`{role}` has no part in {new}, and does nothing in {old}\n"),
            "added" => format!("`{role}` has no part in {old}, and does nothing in {new}\n"),
            _ => format!("`{role}` of {new} may join peers that run {old}: {proof}\n"),
        };
        RoleAnswer { role, change, join, stay, line }
    }

    /// May the role as it is in `sub` run with peers as they are in `sup`?
    fn direction(&self, role: &Role, sub: &Version<'_>, sup: &Version<'_>) -> Question {
        let comparison =
            Comparison { sub: sub.machine_or_idle(role), sup: sup.machine_or_idle(role) };
        let (own, place) = (&comparison.sub.fsm, &comparison.sup.fsm);
        // Such a role waits until its peers tell their ends.
        let late = |of: &Version<'_>, role| of.machine_or_idle(role).fsm.late().clone();
        let drops_others = self.roles.iter().find(|role| late(sub, role) != late(sup, role));
        if own == place && drops_others.is_none() {
            return Question::holds(None);
        }
        let others = self.roles.iter().filter(|other| *other != role);
        let peers: Vec<Fsm> = others.map(|other| sup.machine_or_idle(other).fsm).collect();
        let (sub_name, sup_name) = (sub.name, sup.name);
        let claim = format!("`{role}` of `{sub_name}` may join peers that run `{sup_name}`");
        if let Some(other) = drops_others {
            let reason = format!("`{other}` drops other late messages");
            let notice = Notice::error(format!("undecided whether {claim}: {reason}"));
            return Question::other((notice, Answer::because(Outcome::Undecided, reason)));
        }
        let (file, text) = match verify(own, place, &peers, &self.limits) {
            Ok(Verdict::Safe(accepted)) => return Question::holds(Some(accepted)),
            Ok(Verdict::Unsafe(refused)) => {
                let title = match sub.machine(role) {
                    Some(_) => {
                        format!("`{role}` of `{sub_name}` may not join peers that run `{sup_name}`")
                    }
                    None => format!(
                        "`{role}` has no part in `{sub_name}`, and peers that run `{sup_name}` cannot do without it"
                    ),
                };
                let (explanation, notice, answer) =
                    comparison.refused(title, refused.refusal.as_ref(), Some(&refused));
                let peers = explanation.iter().flat_map(|found| comparison.peers(found));
                let is_in_both = |role| sub.machine(role).and(sup.machine(role)).is_some();
                let strangers = peers.chain([role]).filter(|it| !is_in_both(it)).cloned().collect();
                let answer = answer.with("rule", explanation.map(|found| found.rule));
                return Question { strangers, ..Question::other((notice, answer)) };
            }
            Ok(Verdict::Undecided(limit)) => {
                return Question::other(undecided(&claim, limit));
            }
            // A machine that receives from several peers at once.
            Err(VerifyError::Machine(error)) => {
                (comparison.machine(error.side).file.clone(), error.defect.to_string())
            }
            Err(error) => (sup_name.to_owned(), error.to_string()),
        };
        let reason = split_way_out(&text).0;
        let notice = Notice::error(format!("undecided whether {claim}"));
        let notice = notice.remark(format!("in `{file}`, {reason}"));
        Question::other((notice, Answer::because(Outcome::Undecided, reason)))
    }

    /// Prints the answers. A refusal that several roles share is printed once.
    fn say(&self, answers: &[RoleAnswer<'_>], terminal: &mut Terminal) {
        let shared = self.lacking_roles(answers);
        shared.iter().for_each(|notice| terminal.say_notice(notice));
        for RoleAnswer { join, line, .. } in answers {
            match &join.report {
                _ if shared.is_some() && !join.strangers.is_empty() => {}
                Some(report) => terminal.say_notice(report),
                None => terminal.say(line),
            }
        }
    }

    /// The refusal of several roles that may not join because of roles that only one version has.
    fn lacking_roles(&self, answers: &[RoleAnswer<'_>]) -> Option<Notice> {
        let Self { old, new, .. } = self;
        let refused = answers.iter().filter(|answer| !answer.join.strangers.is_empty());
        let refused: Vec<&RoleAnswer<'_>> = refused.collect();
        let [first, _, ..] = refused[..] else { return None };
        let strangers: BTreeSet<&Role> =
            refused.iter().flat_map(|answer| &answer.join.strangers).collect();
        let lacking = |version: &Version<'_>| -> Vec<&Role> {
            strangers.iter().copied().filter(|role| version.machine(role).is_none()).collect()
        };
        let (added, removed) = (lacking(old), lacking(new));
        let (old_name, new_name) = (old.name, new.name);
        let clauses = [(old_name, &added), (new_name, &removed)].into_iter();
        let clauses = clauses.filter(|(_, roles)| !roles.is_empty());
        let clauses =
            clauses.map(|(name, roles)| format!("`{name}` has no role {}", either(roles)));
        let lacking = clauses.collect::<Vec<_>>().join(" and ");
        let names = list(refused.iter().map(|answer| answer.role));
        let message = format!(
            "{lacking}, so {names} may not run `{new_name}` while their peers run `{old_name}`"
        );
        let pairs = added.iter().flat_map(|role| removed.iter().map(move |known| (role, known)));
        let same = pairs.filter(|(role, known)| {
            new.machine(role).zip(old.machine(known)).is_some_and(|(new, old)| {
                let renamed = new.fsm.edit().played_by(known).build(new.fsm.initial());
                renamed.played_like(&new.fsm) == old.fsm
            })
        });
        let same = same.map(|(role, known)| {
            format!("did you mean `{known}` by `{role}`, which does the same? ")
        });
        let same: String = same.collect();
        let upgrade = if same.is_empty() { "upgrade" } else { "If not, upgrade" };
        let help = Some(format!("{same}{upgrade} {names} together"));
        let notes = vec!["`--role` shows what goes wrong for one of them".to_owned()];
        let report = first.join.report.clone()?;
        Some(Notice { code: Some("V0202"), message, notes, help, ..report })
    }

    /// The smallest mix of old and new roles that is not known to be safe, although each new role
    /// may join by itself.
    ///
    /// If subtyping suffices for each role, it suffices for each mix. The other roles were judged
    /// among roles that are all old. All new roles together are the new version, which is safe.
    fn wrong_mix(&self, joining: &[(&Role, Accepted)]) -> Option<Question> {
        /// All mixes of so many roles are judged, and not of more.
        const MIXED: usize = 8;
        if joining.iter().all(|(_, accepted)| accepted.condition.is_none()) {
            return None;
        }
        let (old_name, new_name) = (self.old.name, self.new.name);
        let undecided = |reason: String| {
            let claim = "the roles may be upgraded in any order";
            let notice = Notice::error(format!("undecided whether {claim}: {reason}"));
            Some(Question::other((notice, Answer::because(Outcome::Undecided, reason))))
        };
        if joining.len() > MIXED {
            let count = joining.len();
            return undecided(format!("{count} roles change, and at most {MIXED} are mixed"));
        }
        let machines = |version: &Version<'_>| -> Vec<Fsm> {
            self.roles.iter().map(|role| version.machine_or_idle(role).fsm).collect()
        };
        let (old, new) = (machines(self.old), machines(self.new));
        let is_mixed = |mix: &u32| (2..joining.len()).contains(&(mix.count_ones() as usize));
        let mut mixes: Vec<u32> = (0..1 << joining.len()).filter(is_mixed).collect();
        mixes.sort_by_key(|mix| mix.count_ones());
        for mix in mixes {
            let is_in = |(bit, _): &(usize, _)| mix >> bit & 1 == 1;
            let joined = || joining.iter().enumerate().filter(is_in).map(|(_, found)| found);
            let parts = old.iter().zip(&new).map(|(old, new)| {
                let accepted = joined().find(|(role, _)| *role == old.role());
                accepted.map_or(Part::projection(old), |(_, found)| {
                    Part::new(new, old, found.proof.as_ref())
                })
            });
            let judged = together(&parts.collect::<Vec<_>>(), &self.limits);
            let run = match judged.map(|found| found.verdict) {
                Ok(Verdict::Safe(())) => continue,
                Ok(Verdict::Unsafe(run)) => run,
                Ok(Verdict::Undecided(limit)) => return undecided(limit.to_string()),
                Err(error) => return undecided(error.to_string()),
            };
            let names = list(joined().map(|(role, _)| role));
            let answer = Answer::because(Outcome::Fails, run.failure.to_string());
            let notice = Notice::error(format!(
                "{names} of `{new_name}` may each join peers that run `{old_name}`, but not together"
            ))
            .remark(among_peers(&Evidence::Run(run)))
            .help(format!("upgrade one of them when all other roles run `{new_name}`"));
            return Some(Question::other((notice, answer)));
        }
        None
    }
}
