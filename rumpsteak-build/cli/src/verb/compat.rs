//! `compat`: may roles of a new version of a protocol join peers that still run the old one?

use std::path::PathBuf;

use clap::Args;
use rumpsteak_build::command::{
    self, Explanation, Notice, among_peers, did_you_mean, list, proven, split_way_out, visible,
};
use rumpsteak_fsm::{
    Fsm, Limits, Role, TransitionId, Verdict,
    subtype::{Proof, Side},
    verify,
    verify::{Evidence, Refused, VerifyError},
};
use rumpsteak_scribble::{Diagnostic, Projection, Protocol};
use serde_json::{Value, json};

use crate::{
    input::Reader,
    json::{self, Answer},
    modules::{self, Module},
    options::{Output, Scribble, raise},
    outcome::Outcome,
    terminal::Terminal,
};

/// Tells whether roles built from NEW may join peers that still run OLD
#[derive(Debug, Args)]
#[command(after_help = "\
For each role: may it be upgraded first, while its peers run OLD? And may it stay, while its peers run NEW already?
It may if its machine is an asynchronous subtype of the one whose place it takes. The exit status answers the first
question, for the role that is asked for or for all of them: then they may be upgraded one by one, in any order.")]
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
    /// Let at most N actions be pending because others are done first
    #[arg(long, value_name = "N", default_value_t = Limits::default().anticipation)]
    bound: usize,
    /// Compare at most N actions
    #[arg(long, value_name = "N", default_value_t = Limits::default().steps)]
    steps: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Compares the two versions, role by role.
///
/// # Errors
/// A file that cannot be read; a protocol or a role that is in neither.
pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Result<Outcome, Notice> {
    let mut reader = Reader::default();
    let mut read = |path| modules::read(&mut reader, path, &arguments.scribble.import_path);
    let modules = [read(&arguments.old)?, read(&arguments.new)?];
    let [old, new] = &modules;
    let mut wrong = Outcome::Holds;
    for module in &modules {
        module.warn(terminal);
        wrong = wrong.max(complain(module, &module.contents.diagnostics, terminal));
    }
    if wrong != Outcome::Holds {
        return Ok(broken(arguments, wrong, terminal));
    }
    let name = arguments.scribble.protocol.as_deref();
    let mut versions = vec![];
    for module in [old, new] {
        match Version::new(module, module.pick(name)?) {
            Ok(version) => versions.push(version),
            Err(found) => wrong = wrong.max(complain(module, &found, terminal)),
        }
    }
    let [old, new] = &versions[..] else {
        return Ok(broken(arguments, wrong, terminal));
    };

    let limits = Limits::default()
        .anticipation(arguments.bound)
        .steps(arguments.steps);
    let all = old.roles_with(new);
    let asked: Vec<Role> = match &arguments.role {
        None => all.clone(),
        Some(role) => {
            let role = Role::from(role.as_str());
            if !all.contains(&role) {
                let names = || all.iter().map(Role::as_str);
                let meant = did_you_mean(role.as_str(), names());
                let help = meant.unwrap_or_else(|| format!("the roles are {}", list(names())));
                let message = format!("neither version has a role `{role}`");
                return Err(Notice::error(message).help(help));
            }
            vec![role]
        }
    };

    let mut outcome = Outcome::Holds;
    let mut objects = vec![];
    let mut gravest = Answer::default().object(Outcome::Holds);
    for role in &asked {
        let answer = Comparison { role, old, new }.answer(&all, &limits);
        if !arguments.output.json() {
            match &answer.join.report {
                Some(report) => terminal.print_report(report),
                None => terminal.print(&answer.line),
            }
        }
        if answer.join.outcome > outcome {
            outcome = answer.join.outcome;
            gravest = answer.join.object.clone();
        }
        objects.push(json!({
            "role": role.as_str(),
            "change": answer.change,
            "join": answer.join.object,
            "stay": answer.stay.object,
        }));
    }
    if arguments.output.json() {
        gravest["old"] = old.name().into();
        gravest["new"] = new.name().into();
        gravest["roles"] = objects.into();
        terminal.print(&json::text(&gravest));
    }
    Ok(outcome)
}

/// Reports what is wrong with a version.
fn complain(module: &Module, diagnostics: &[Diagnostic], terminal: &mut Terminal) -> Outcome {
    if !module.complain(diagnostics, terminal) {
        return Outcome::Holds;
    }
    // A version that is no safe protocol by itself cannot be compared with another.
    match modules::outcome(diagnostics) {
        Outcome::Undecided => Outcome::Undecided,
        _ => Outcome::BadInput,
    }
}

/// The answer where a version has errors.
fn broken(arguments: &Arguments, outcome: Outcome, terminal: &mut Terminal) -> Outcome {
    if arguments.output.json() {
        let answer = Answer::because("a version has errors of its own");
        terminal.print(&json::text(&answer.object(outcome)));
    }
    outcome
}

/// A version of the protocol.
struct Version<'a> {
    module: &'a Module,
    projections: Vec<Projection>,
}

impl<'a> Version<'a> {
    fn new(module: &'a Module, protocol: &Protocol) -> Result<Self, Vec<Diagnostic>> {
        let projections = protocol.project_all()?;
        Ok(Self {
            module,
            projections,
        })
    }

    fn name(&self) -> &str {
        self.module.name()
    }

    fn projection(&self, role: &Role) -> Option<&Projection> {
        self.projections
            .iter()
            .find(|projection| projection.fsm.role() == role)
    }

    /// The roles of this version, and then those that only the other one has.
    fn roles_with(&self, other: &Self) -> Vec<Role> {
        let roles = self.projections.iter().map(|found| found.fsm.role());
        let more = other.projections.iter().map(|found| found.fsm.role());
        let more = more.filter(|role| self.projection(role).is_none());
        roles.chain(more).cloned().collect()
    }

    /// The machine of `role` in this version. It does nothing if the role has no part in it.
    fn machine(&self, role: &Role) -> Fsm {
        match self.projection(role) {
            Some(projection) => projection.fsm.clone(),
            None => {
                let mut builder = Fsm::builder(role.clone());
                let only = builder.add_state();
                builder.build(only)
            }
        }
    }

    /// Marks the interaction that a transition of `role` stands for.
    fn mark(&self, report: Notice, role: &Role, transition: TransitionId, label: &str) -> Notice {
        let origins = self
            .projection(role)
            .map_or(&[][..], |projection| projection.origins(transition));
        // The first place: the others say the same to this role.
        origins.iter().take(1).fold(report, |report, span| {
            self.module.mark(report, *span, label)
        })
    }
}

/// One role in two versions.
struct Comparison<'a> {
    role: &'a Role,
    old: &'a Version<'a>,
    new: &'a Version<'a>,
}

/// The answers about a role.
struct RoleAnswer {
    /// `same`, `changed`, `added` or `removed`.
    change: &'static str,
    /// May it join peers that run the old version?
    join: Question,
    /// May it stay as it is while its peers run the new one?
    stay: Question,
    /// The line that is printed if it may join.
    line: String,
}

/// The answer to one question.
struct Question {
    outcome: Outcome,
    object: Value,
    /// The report if the answer is no or unknown.
    report: Option<Notice>,
    /// The proof, in words, if the answer is yes.
    proof: Option<String>,
}

impl Question {
    fn undecided(answer: Answer, notice: Notice) -> Self {
        Self {
            outcome: Outcome::Undecided,
            object: answer.object(Outcome::Undecided),
            report: Some(notice),
            proof: None,
        }
    }
}

impl Comparison<'_> {
    fn answer(&self, all: &[Role], limits: &Limits) -> RoleAnswer {
        let role = self.role;
        let (old, new) = (self.old.machine(role), self.new.machine(role));
        let change = match (self.old.projection(role), self.new.projection(role)) {
            (None, _) => "added",
            (_, None) => "removed",
            _ if old == new => "same",
            _ => "changed",
        };
        let mut join = self.direction(self.new, self.old, all, limits);
        let stay = self.direction(self.old, self.new, all, limits);
        if join.outcome == Outcome::Fails {
            let report = join.report.take();
            join.report = report.map(|report| self.advise(report, change, &stay));
        }
        let proof = join.proof.as_deref().unwrap_or_default();
        let line = match change {
            "same" => format!("`{role}` is the same in both\n"),
            "removed" => format!(
                "`{role}` has no part in {}, and does nothing in {}\n",
                visible(self.new.name()),
                visible(self.old.name()),
            ),
            "added" => format!(
                "`{role}` has no part in {}, and does nothing in {}\n",
                visible(self.old.name()),
                visible(self.new.name()),
            ),
            _ => format!(
                "`{role}` of {} may join peers that run {}: {proof}\n",
                visible(self.new.name()),
                visible(self.old.name()),
            ),
        };
        RoleAnswer {
            change,
            join,
            stay,
            line,
        }
    }

    /// Adds the way out for a role that may not be upgraded first.
    fn advise(&self, report: Notice, change: &str, stay: &Question) -> Notice {
        let role = self.role;
        let (old, new) = (self.old.name(), self.new.name());
        if change == "added" {
            return report.help(format!("start `{role}` when all of its peers run `{new}`"));
        }
        match stay.outcome {
            Outcome::Holds if change == "removed" => report.help(format!(
                "let `{role}` of `{old}` run until all of its peers run `{new}`"
            )),
            Outcome::Holds => report.help(format!(
                "upgrade `{role}` last: as it is in `{old}` it may stay while its peers run `{new}`"
            )),
            Outcome::Undecided => report.help(format!(
                "upgrade `{role}` together with its peers: whether it may stay is undecided"
            )),
            _ => report.help(format!(
                "upgrade `{role}` together with its peers: as it is in `{old}` it may not stay either"
            )),
        }
    }

    /// May the role as it is in `sub` run with peers as they are in `sup`?
    fn direction(
        &self,
        sub: &Version<'_>,
        sup: &Version<'_>,
        all: &[Role],
        limits: &Limits,
    ) -> Question {
        let role = self.role;
        let (own, place) = (sub.machine(role), sup.machine(role));
        if own == place {
            return self.holds(None);
        }
        let others = all.iter().filter(|other| *other != role);
        let peers: Vec<Fsm> = others.map(|other| sup.machine(other)).collect();
        let title = match sub.projection(role) {
            Some(_) => format!(
                "`{role}` of `{}` may not join peers that run `{}`",
                sub.name(),
                sup.name()
            ),
            None => format!(
                "`{role}` has no part in `{}`, and peers that run `{}` cannot do without it",
                sub.name(),
                sup.name()
            ),
        };
        match verify(&own, &place, &peers, limits) {
            Ok(Verdict::Safe(proof)) => self.holds(Some(&proof)),
            Ok(Verdict::Unsafe(refused)) => self.refused(title, &own, &refused, sub, sup),
            Ok(Verdict::Undecided(limit)) => {
                let title = format!(
                    "undecided whether `{role}` of `{}` may join peers that run `{}`: {limit}",
                    sub.name(),
                    sup.name()
                );
                let notice = Notice::error(title).help(raise(limit));
                Question::undecided(Answer::limited(limit), notice)
            }
            Err(error) => self.undecided(&error, sub, sup),
        }
    }

    fn holds(&self, proof: Option<&Proof>) -> Question {
        let answer = Answer {
            bound: proof.map_or(Some(0), |proof| proof.anticipation),
            ..Answer::default()
        };
        Question {
            outcome: Outcome::Holds,
            object: answer.object(Outcome::Holds),
            report: None,
            proof: proof.map(proven),
        }
    }

    /// A machine that subtyping does not know: one that receives from several peers at once.
    fn undecided(&self, error: &VerifyError, sub: &Version<'_>, sup: &Version<'_>) -> Question {
        let (version, text) = match error {
            VerifyError::Machine(error) => (
                match error.side {
                    Side::Sub => sub,
                    Side::Sup => sup,
                },
                error.defect.to_string(),
            ),
            error => (sup, error.to_string()),
        };
        let reason = split_way_out(&text).0.to_owned();
        let title = format!(
            "undecided whether `{}` of `{}` may join peers that run `{}`",
            self.role,
            sub.name(),
            sup.name()
        );
        let notice = Notice::error(title).remark(format!("in `{}`, {reason}", version.name()));
        Question::undecided(Answer::because(reason), notice)
    }

    fn refused(
        &self,
        title: String,
        own: &Fsm,
        refused: &Refused,
        sub: &Version<'_>,
        sup: &Version<'_>,
    ) -> Question {
        let explanation = self.explained(own, refused, sup);
        let mut notice = match &explanation {
            Some(found) => {
                let notice = Notice::error(format!("{title}: {}", found.sentence));
                let blamed = [(sub, found.own), (sup, found.due)];
                let notice =
                    blamed
                        .into_iter()
                        .fold(notice, |notice, (version, mark)| match mark {
                            Some((id, label)) => version.mark(notice, self.role, id, label),
                            None => notice,
                        });
                found.notes.iter().fold(notice, Notice::remark)
            }
            None => Notice::error(title).remark(command::DECIDED_BY_RUN),
        };
        notice = notice.remark(among_peers(&refused.evidence));
        let run = match &refused.evidence {
            Evidence::Run(run) => Some(run),
            _ => None,
        };
        let action = |id: &TransitionId| json::action(own.transition(*id).action);
        let path = refused.refusal.as_ref().map(|refusal| &refusal.path);
        let sentence = explanation.as_ref().map(|found| found.sentence.clone());
        let answer = Answer {
            run: path.map(|path| path.iter().map(action).collect()),
            reason: sentence.or_else(|| run.map(|run| run.failure.to_string())),
            ..Answer::default()
        };
        let mut object = answer.object(Outcome::Fails);
        object["rule"] = explanation.map(|found| found.code).into();
        object["system"] = run.map(|run| json::run(run)).into();
        Question {
            outcome: Outcome::Fails,
            object,
            report: Some(notice),
            proof: None,
        }
    }

    /// The refusal in words.
    fn explained(&self, own: &Fsm, refused: &Refused, sup: &Version<'_>) -> Option<Explanation> {
        let comparison = command::Comparison {
            sub: own,
            sup: &sup.machine(self.role),
            sup_name: sup.name(),
        };
        Some(comparison.explain(refused.refusal.as_ref()?))
    }
}
