//! Well-formedness, and the protocols that are well formed.

use std::sync::Arc;

use rumpsteak_fsm::{Role, sorted};

use crate::{
    diagnostics::code as codes,
    diagnostics::diagnostic::{self, Diagnostic},
    diagnostics::span::Span,
    global::determinise::{self as global, Global},
    global::flow,
    names::resolve::{self, Source},
    project::projection::{self as project, Projection},
    syntax::ast::{Module, Name},
};

/// How far to go before giving up. Every limit that is met is an error that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// States of the automaton of one protocol, once calls are unfolded and equal beginnings are joined. The work
    /// of finding them is limited to a fixed multiple of this.
    pub global_states: usize,
    /// States of the machine of one role before equivalent ones are merged.
    pub local_states: usize,
    /// Steps of the projection onto one role: how often a global state is looked at for one of its own, or in a search
    /// for messages that overtake (`M` in CAV'23).
    pub steps: usize,
}

impl Default for Limits {
    /// 200,000 states and 5,000,000 steps: more than any protocol in use, and no more than some seconds in an
    /// unoptimised build script.
    fn default() -> Self {
        Self {
            global_states: 200_000,
            local_states: 200_000,
            steps: 5_000_000,
        }
    }
}

/// What [`check`] found.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The protocols that are well formed and can be played as they are: neither auxiliary nor with
    /// parameters. In order.
    pub protocols: Vec<Protocol>,
    /// Every error, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks a module that was parsed, and unfolds its protocols.
///
/// What [`parse`](crate::parse) could not read is not reported again, nor is what follows from it; a module with errors
/// can be checked for more.
///
/// # Cost
/// Linear in the text and in the unfolded protocols, which [`Limits`] bound.
pub fn check(module: &Module) -> Checked {
    check_with(module, &Limits::default())
}

/// [`check`] with limits of one's own.
pub fn check_with(module: &Module, limits: &Limits) -> Checked {
    let mut diagnostics: Vec<Diagnostic> = module
        .imports
        .iter()
        .map(|import| codes::unsupported(codes::Construct::Import, import.span))
        .collect();
    let source = Source {
        module,
        imports: vec![None; module.imports.len()],
    };
    let protocols = check_sources(&[source], limits, &mut diagnostics);
    diagnostic::sort(&mut diagnostics);
    Checked {
        protocols,
        diagnostics,
    }
}

/// Checks the protocols of all modules and returns those of the first.
pub(crate) fn check_sources(
    sources: &[Source<'_>],
    limits: &Limits,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Protocol> {
    let mut program = resolve::resolve(sources, diagnostics);
    flow::check(&mut program, diagnostics);

    // Auxiliary protocols are checked where they are called; those that are not, on their own, last.
    let mut order: Vec<usize> = (0..program.protocols.len())
        .filter(|&at| {
            let protocol = &program.protocols[at];
            protocol.valid && protocol.decl.parameters.is_empty()
        })
        .collect();
    let auxiliary = |at: usize| program.protocols[at].decl.auxiliary;
    sorted::sort_by(&mut order, |&left, &right| {
        auxiliary(left).cmp(&auxiliary(right))
    });
    let own = sources
        .first()
        .map_or(0, |source| source.module.protocols.len());
    let mut entered = vec![false; program.protocols.len()];
    let mut protocols = Vec::new();
    for at in order {
        let decl = program.protocols[at].decl;
        if decl.auxiliary && entered[at] {
            continue;
        }
        match global::build(&mut program, at, limits.global_states, &mut entered) {
            Ok(global) if !decl.auxiliary && at < own => protocols.push(Protocol {
                name: decl.name.clone(),
                role_names: decl.roles.iter().map(|role| role.name.clone()).collect(),
                span: decl.span,
                global: Arc::new(global),
                limits: limits.clone(),
            }),
            Ok(_) => {}
            Err(found) => diagnostics.extend(found),
        }
    }
    protocols
}

/// A well-formed protocol, as a global type. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Protocol {
    name: Name,
    role_names: Vec<Name>,
    span: Span,
    global: Arc<Global>,
    limits: Limits,
}

impl Protocol {
    /// What it is called, and where.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Its roles, in the order of the declaration.
    pub fn roles(&self) -> &[Role] {
        &self.global.roles
    }

    /// Where `role` is declared, if it is one of the roles.
    pub fn role_span(&self, role: &Role) -> Option<Span> {
        let position = self.position(role)?;
        Some(self.role_names[position].span)
    }

    /// The whole declaration.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The number of states of the global automaton.
    pub fn states(&self) -> usize {
        self.global.len()
    }

    fn position(&self, role: &Role) -> Option<usize> {
        self.roles().iter().position(|known| known == role)
    }

    /// The machine of `role`, after Li, Stutz, Wies and Zufferey (CAV'23).
    ///
    /// A state that receives from several peers is no error here; [`Fsm::check_directed`] tells.
    ///
    /// # Errors
    /// Where the role would have to act on a choice that it cannot know, or a limit is met; and if the protocol has no
    /// such role.
    ///
    /// # Cost
    /// Linear in the automaton for protocols in which a role is told about a choice soon; exponential in the worst
    /// case, which [`Limits`] stop.
    ///
    /// [`Fsm::check_directed`]: rumpsteak_fsm::Fsm::check_directed
    pub fn project(&self, role: &Role) -> Result<Projection, Vec<Diagnostic>> {
        let Some(position) = self.position(role) else {
            let mut known = self.roles().iter().map(Role::as_str);
            let diagnostic = codes::no_such_role(
                role.as_str(),
                self.name.as_str(),
                self.name.span,
                &mut known,
            );
            return Err(vec![diagnostic]);
        };
        let declared = self.role_names[position].span;
        project::project(
            &self.global,
            resolve::index(position),
            declared,
            &self.limits,
        )
    }
}
