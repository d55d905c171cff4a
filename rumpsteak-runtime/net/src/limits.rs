//! Limits.

use std::time::Duration;

/// Declares the limits with their defaults and setters.
macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $default:expr;)*) => {
        /// Limits of time and size between processes.
        ///
        /// ```
        /// use std::time::Duration;
        /// use rumpsteak_net::Limits;
        ///
        /// let limits = Limits::default().resume(Duration::from_secs(5)).frame(1 << 16);
        /// ```
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        #[non_exhaustive]
        pub struct Limits {
            $(pub(crate) $name: $type,)*
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl Limits {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $name: $type) -> Self {
                self.$name = $name;
                self
            })*
        }
    };
}

limits! {
    /// The largest message, in bytes as the codec writes it. Default: 16 MiB.
    frame: usize = 16 << 20;
    /// The number of connections at one host that may not have greeted yet, and the number that may
    /// wait for an answer. If more come, the oldest without a greeting gives way, and callers of
    /// new sessions are turned away and call again. A peer that resumes gets in. Default: 1,024.
    connections: usize = 1024;
    /// The number of connections from one address that may not have greeted yet. If more come, the
    /// oldest gives way. A network of IPv6 (`/64`) counts as one address; connections through a
    /// broker or a socket of Unix have none. Default: 256.
    connections_of_address: usize = 256;
    /// How long a role waits for all of its peers to join. Default: 30 s.
    join: Duration = Duration::from_secs(30);
    /// How long a handshake may take, once there is a connection. The greeting has to come within
    /// 2 s, even if this is longer. Default: 10 s.
    handshake: Duration = Duration::from_secs(10);
    /// How long a session waits for a connection that is broken, or breaks again and again before
    /// anything gets through. The time starts at the first break since a message or an
    /// acknowledgement got through. Default: 30 s.
    resume: Duration = Duration::from_secs(30);
    /// The pause after which an end sends a beat. If nothing comes for three times as long, a
    /// connection counts as broken. Default: 5 s.
    beat: Duration = Duration::from_secs(5);
}

/// Longer than any role runs: 34 years. Clocks of some systems end before a hundred.
pub(crate) const FOR_EVER: Duration = Duration::from_secs(1 << 30);
