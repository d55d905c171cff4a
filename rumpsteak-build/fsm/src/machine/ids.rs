//! Numbers of states and transitions.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        // 32 bits, because tables of ids dominate the memory of the algorithms.
        pub struct $name(u32);

        impl $name {
            /// The position in order of insertion.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id with this position.
            ///
            /// # Panics
            /// If `index` does not fit into 32 bits, which no machine's does.
            pub fn from_index(index: usize) -> Self {
                match u32::try_from(index) {
                    Ok(id) => Self(id),
                    Err(_) => panic!("a machine has fewer than 2^32 states and transitions"),
                }
            }
        }
    };
}

id! {
    /// A state of one machine: dense, in order of insertion.
    StateId
}

id! {
    /// A transition of one machine: dense, in order of insertion over the whole machine.
    TransitionId
}

impl fmt::Display for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
