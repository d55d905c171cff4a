//! The limits of a host.

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
    /// The number of bytes of messages that each end of a lane keeps: one direction of a route of a
    /// session, between two hosts. A sender waits if the peer's role has yet to take so many bytes,
    /// and more messages than the build proved to need room. The smaller window of the two hosts
    /// counts. Default: 4 MiB. See [queues](crate::guide::transports).
    window: usize = 4 << 20;
    /// The same for a lane whose queue has no proven capacity. Default: `usize::MAX`, no limit.
    ///
    /// **Warning:** a limit there can deadlock, if two roles each send more than it before they
    /// receive. Set it only if your roles cannot.
    unproven_window: usize = usize::MAX;
    /// The number of connections at one host that have not greeted yet, and the number that wait
    /// for an answer. Beyond it, the host drops the oldest connection without a greeting, and turns
    /// away callers of new sessions, who call again. It admits peers that resume. Default: 1,024.
    connections: usize = 1024;
    /// The number of connections from one address that have not greeted yet. Beyond it, the host
    /// drops the oldest. An IPv6 network (`/64`) counts as one address; connections through a
    /// broker or a Unix socket have none. Default: 256.
    connections_of_address: usize = 256;
    /// How long a role waits for all of its peers to join. Default: 30 s.
    join: Duration = Duration::from_secs(30);
    /// How long a handshake may take on a new connection. The greeting has to come within 2 s, even
    /// if this is longer. Default: 10 s.
    handshake: Duration = Duration::from_secs(10);
    /// How long a session tries to replace a broken connection. The time starts at the first break
    /// since a message or an acknowledgement got through. Default: 30 s.
    resume: Duration = Duration::from_secs(30);
    /// The interval of heartbeats. If nothing comes for three times as long, the connection counts
    /// as broken. Default: 5 s.
    beat: Duration = Duration::from_secs(5);
}

/// Longer than any role runs: 34 years, or 24 days in a browser. The clocks of some systems
/// overflow within a hundred years, and the timers of a browser within 25 days.
pub(crate) const FOR_EVER: Duration =
    Duration::from_secs(if cfg!(target_family = "wasm") { 1 << 21 } else { 1 << 30 });

/// The number of beats without a sign of the other end after which a connection counts as broken.
pub(crate) const SILENT_BEATS: u32 = 3;
