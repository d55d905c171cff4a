//! How much the verification of a package may cost.

/// How much each search may cost. The defaults answer every protocol of the papers.
///
/// A search that reaches a limit has no answer: what it was about counts as not verified, and the
/// message names the limit by the name of its setter.
///
/// ```
/// use rumpsteak_build::Limits;
///
/// let limits = Limits::default().configurations(1_000_000).queue(128);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    pub(crate) verifier: rumpsteak_fsm::Limits,
    scribble: rumpsteak_scribble::Limits,
    pub(crate) combinations: usize,
    pub(crate) generated_lines: usize,
}

impl Default for Limits {
    fn default() -> Self {
        rumpsteak_fsm::Limits::default().into()
    }
}

/// The limits of the verifier; all others have their defaults.
impl From<rumpsteak_fsm::Limits> for Limits {
    fn from(verifier: rumpsteak_fsm::Limits) -> Self {
        Self {
            verifier,
            scribble: rumpsteak_scribble::Limits::default(),
            combinations: 256,
            generated_lines: 25_000,
        }
    }
}

impl Limits {
    /// The limits of reading protocols. The verifier's are those of the whole package.
    pub(crate) fn scribble(&self) -> rumpsteak_scribble::Limits {
        rumpsteak_scribble::Limits { verifier: self.verifier, ..self.scribble }
    }
}

/// A setter for each limit, and all limits by the names of their setters.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident => $($field:ident).+;)*) => {
        impl Limits {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(mut self, most: usize) -> Self {
                self.$($field).+ = most;
                self
            })*

            /// All limits, by the names of their setters.
            pub(crate) fn by_name(&mut self) -> impl Iterator<Item = (&'static str, &mut usize)> {
                [$((stringify!($name), &mut self.$($field).+)),*].into_iter()
            }
        }
    };
}

setters! {
    /// Subtyping: how many actions of the protocol may be pending at once, because the session does
    /// others first; for each hundred states of both, or part of it. Default: 1,000.
    anticipation => verifier.anticipation;
    /// Subtyping: how many choices of the protocol may be passed over at once. Default: 8.
    branching => verifier.branching;
    /// How many combinations of sessions of a closed system are judged: one session for each role.
    /// Default: 256.
    combinations => combinations;
    /// Exploration: how many configurations of a system are visited. Default: 100,000.
    configurations => verifier.configurations;
    /// Generated code: how many lines a protocol has. rustc needs about half a minute and 2 GB for
    /// 50,000. Default: 25,000.
    generated_lines => generated_lines;
    /// Scribble: how many states the automaton of one protocol has. Default: 200,000.
    global_states => scribble.global_states;
    /// Scribble: how many states the machine of one role has before equal ones are merged. Default:
    /// 200,000.
    local_states => scribble.local_states;
    /// Scribble: how many transitions the machine of one role has before equal states are merged,
    /// in a protocol with `par` or `interruptible`. Default: 25,000.
    local_transitions => scribble.local_transitions;
    /// Scribble: how many steps the projection onto one role takes. Default: 5,000,000.
    projection_steps => scribble.projection_steps;
    /// Exploration: the longest queue up to which a system is explored whose queues grow for ever.
    /// Default: 64.
    queue => verifier.queue;
    /// Subtyping: how many actions are compared. Default: 1,000,000.
    steps => verifier.steps;
    /// Subtyping: how precisely pending actions are known where there are more and more of them:
    /// see [`rumpsteak_fsm::Limits::widening`]. Default: 4.
    widening => verifier.widening;
}
