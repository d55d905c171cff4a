//! Names, cheap to clone and compared by their text, and numbers of states and transitions.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        /// A clone shares the text.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as it was written.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: Into<Arc<str>>> From<T> for $name {
            fn from(text: T) -> Self {
                Self(text.into())
            }
        }

        impl From<&$name> for $name {
            fn from(name: &$name) -> Self {
                name.clone()
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }
    };
}

name! {
    /// A participant of a protocol, such as `k`.
    Role
}

name! {
    /// The label of a message, such as `ready`.
    Label
}

name! {
    /// The type of a payload, such as `i32`. Two sorts are compatible only if they are equal.
    Sort
}

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
