//! How far the checks go before they give up.

/// How far to go before giving up. A limit that is met is an error that names it.
///
/// ```
/// use rumpsteak_scribble::Limits;
///
/// let limits = Limits { global_states: 1_000_000, ..Limits::default() };
/// assert_eq!(limits.local_states, 200_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// States of the automaton of one protocol, once calls are unfolded and equal beginnings are
    /// joined. The work of finding them is limited to a fixed multiple of this.
    pub global_states: usize,
    /// States of the machine of one role before equivalent ones are merged.
    pub local_states: usize,
    /// Transitions of the machine of one role in a protocol with `par` or `interruptible` before
    /// equivalent states are merged.
    pub local_transitions: usize,
    /// Steps of the projection onto one role: how often a global state is looked at for one of the
    /// role's own, or in a search for messages that overtake (`M` in CAV'23).
    pub projection_steps: usize,
    /// Exploration of the machines of all roles, for protocols with `par`, `interruptible` or roles
    /// on demand.
    pub verifier: rumpsteak_fsm::Limits,
}

impl Default for Limits {
    /// 200,000 states, 25,000 transitions and 5,000,000 steps: more than any protocol in use needs,
    /// and no more than some seconds in an unoptimised build script.
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
