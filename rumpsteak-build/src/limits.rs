//! Limits on the cost of verification.

/// Limits on the cost of each search. The defaults suffice for every protocol of the papers.
///
/// A search that reaches a limit has no answer. Its subject then counts as not verified, and the
/// error names the limit by its setter.
///
/// ```
/// use rumpsteak_build::Limits;
///
/// let limits = Limits::default().configurations(1_000_000).queue(128);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// The limits of rumpsteak-scribble and, in them, of the verifier.
    pub(crate) scribble: rumpsteak_scribble::Limits,
    pub(crate) combinations: usize,
    pub(crate) generated_lines: usize,
}

impl Default for Limits {
    fn default() -> Self {
        rumpsteak_scribble::Limits::default().into()
    }
}

/// The limits of protocols and of the verifier; all others have their defaults.
impl From<rumpsteak_scribble::Limits> for Limits {
    fn from(scribble: rumpsteak_scribble::Limits) -> Self {
        Self { scribble, combinations: 256, generated_lines: 25_000 }
    }
}

/// Defines a setter for each limit, and an iterator over all limits by name.
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
    /// Subtyping: the number of actions of the protocol that may be pending at once, because the
    /// session does others first, for each hundred states of both machines. Default: 1,000.
    anticipation => scribble.verifier.anticipation;
    /// Subtyping: the number of choices of the protocol that may be overtaken at once. Default: 8.
    branching => scribble.verifier.branching;
    /// The number of combinations of sessions of a closed system. Default: 256.
    combinations => combinations;
    /// Exploration: the number of configurations of a system. Default: 100,000.
    configurations => scribble.verifier.configurations;
    /// Generated code: the number of lines. rustc needs 30 s and 2 GB for 50,000. Default: 25,000.
    generated_lines => generated_lines;
    /// Scribble: the number of states of a protocol's automaton. Default: 200,000.
    global_states => scribble.global_states;
    /// Scribble: the number of states of a role's machine before minimisation. Default: 200,000.
    local_states => scribble.local_states;
    /// Scribble: the number of transitions, with `par` or `interruptible`. Default: 25,000.
    local_transitions => scribble.local_transitions;
    /// Scribble: the number of steps of a projection. Default: 5,000,000.
    projection_steps => scribble.projection_steps;
    /// Exploration: the longest queue, in a system whose queues grow for ever. Default: 64.
    queue => scribble.verifier.queue;
    /// Subtyping: the number of actions that are compared. Default: 1,000,000.
    steps => scribble.verifier.steps;
    /// Subtyping: see [`rumpsteak_fsm::Limits::widening`]. Default: 4.
    widening => scribble.verifier.widening;
}
