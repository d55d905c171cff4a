//! Bounds on the work of checks and projections.

/// Bounds on the work of checks and projections. Meeting one is an error that names it.
///
/// ```
/// use rumpsteak_scribble::Limits;
///
/// let limits = Limits { global_states: 1_000_000, ..Limits::default() };
/// assert_eq!(limits.local_states, 200_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// States of the automaton of one protocol, after calls are unfolded and branches that begin
    /// equally are joined. The work of finding them is limited to a fixed multiple of this.
    pub global_states: usize,
    /// States of the machine of one role before equivalent ones are merged.
    pub local_states: usize,
    /// Transitions of the machine of one role in a protocol with `par` or `interruptible`, before
    /// equivalent states are merged.
    pub local_transitions: usize,
    /// Steps of the projection onto one role: visits of global states, by the subset construction
    /// and by the search for messages that overtake (`M` in CAV'23).
    pub projection_steps: usize,
    /// Limits for exploring the machines of all roles together, in protocols with `par`,
    /// `interruptible` or roles on demand.
    pub verifier: rumpsteak_fsm::Limits,
}

impl Default for Limits {
    /// 200,000 states, 25,000 transitions and 5,000,000 steps. Protocols in use need less, and an
    /// unoptimised build script takes some seconds at most.
    fn default() -> Self {
        Self {
            global_states: 200_000,
            local_states: 200_000,
            local_transitions: 25_000,
            projection_steps: 5_000_000,
            verifier: rumpsteak_fsm::Limits::default(),
        }
    }
}
