//! How long things may take, and how large they may be.

use std::time::Duration;

/// How long things may take between processes, and how large they may be.
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
    pub(crate) frame: usize,
    pub(crate) connections: usize,
    pub(crate) connections_of_address: usize,
    pub(crate) join: Duration,
    pub(crate) handshake: Duration,
    pub(crate) resume: Duration,
    pub(crate) beat: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame: 16 << 20,
            connections: 1024,
            connections_of_address: 256,
            join: Duration::from_secs(30),
            handshake: Duration::from_secs(10),
            resume: Duration::from_secs(30),
            beat: Duration::from_secs(5),
        }
    }
}

/// A setter for each limit.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {
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

setters! {
    /// The largest message, in bytes as the codec writes it. Default: 16 MiB.
    frame: usize;
    /// The number of connections at one host that may not have greeted yet, and the number that may
    /// wait for an answer. If more come, the oldest without a greeting gives way, and callers of
    /// new sessions are turned away and call again. A peer that resumes gets in. Default: 1,024.
    connections: usize;
    /// The number of connections from one address that may not have greeted yet. If more come, the
    /// oldest gives way. A network of IPv6 (`/64`) counts as one address; connections through a
    /// broker or a socket of Unix have none. Default: 256.
    connections_of_address: usize;
    /// How long a role waits for all of its peers to join. Default: 30 s.
    join: Duration;
    /// How long a handshake may take, once there is a connection. The greeting has to come within
    /// 2 s, even if this is longer. Default: 10 s.
    handshake: Duration;
    /// How long a session waits for a connection that is broken, or breaks again and again before
    /// anything gets through. The time starts at the first break since a message or an
    /// acknowledgement got through. Default: 30 s.
    resume: Duration;
    /// How often an end that has nothing to say shows that it is there. If three times as long
    /// nothing comes, a connection counts as broken. Default: 5 s.
    beat: Duration;
}

/// Longer than a role is there: 34 years. Clocks of some systems end before a hundred.
pub(crate) const FOR_EVER: Duration = Duration::from_secs(1 << 30);
