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
    /// How many connections may be in their handshake at one host at a time. Default: 1,024.
    connections: usize;
    /// How long a role waits for all of its peers to join. Default: 30 s.
    join: Duration;
    /// How long a handshake may take, once there is a connection. Default: 10 s.
    handshake: Duration;
    /// For how long it is tried to make a broken connection again. Default: 30 s.
    resume: Duration;
    /// How often an end that has nothing to say shows that it is there; three times as long
    /// without a word, and a connection counts as broken. Default: 5 s.
    beat: Duration;
}
