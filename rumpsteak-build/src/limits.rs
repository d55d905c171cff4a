//! Limits on the cost of verification.

/// Limits on the cost of each search. The defaults suffice for every protocol of the papers.
///
/// A search that reaches a limit has no answer. Its subject then counts as not verified, and the
/// error names the limit as a module sets it in its attribute: `limits(queue = 128)`.
///
/// ```
/// let mut limits = rumpsteak_build::Limits::default();
/// limits.scribble.verifier.queue = 128;
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// The limits of protocols and, in them, of the verifier.
    pub scribble: rumpsteak_scribble::Limits,
    /// The number of combinations of sessions of a closed system. Default: 256.
    pub combinations: usize,
    /// The lines of generated code. rustc needs 30 s and 2 GB for 50,000. Default: 25,000.
    pub generated_lines: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let scribble = rumpsteak_scribble::Limits::default();
        Self { scribble, combinations: 256, generated_lines: 25_000 }
    }
}

impl Limits {
    /// All limits, by their names in the attribute of a module.
    pub(crate) fn by_name(&mut self) -> [(&'static str, &mut usize); 12] {
        let Self { scribble, combinations, generated_lines } = self;
        let verifier = &mut scribble.verifier;
        [
            ("anticipation", &mut verifier.anticipation),
            ("branching", &mut verifier.branching),
            ("combinations", combinations),
            ("configurations", &mut verifier.configurations),
            ("generated_lines", generated_lines),
            ("global_states", &mut scribble.global_states),
            ("local_states", &mut scribble.local_states),
            ("local_transitions", &mut scribble.local_transitions),
            ("projection_steps", &mut scribble.projection_steps),
            ("queue", &mut verifier.queue),
            ("steps", &mut verifier.steps),
            ("widening", &mut verifier.widening),
        ]
    }
}
