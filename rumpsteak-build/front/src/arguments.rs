//! The arguments of `#[protocol(…)]` and `#[closed_system(…)]`.
//!
//! ```text
//! #[protocol(Hospital)]                               the protocol
//! #[protocol(Hospital, routes = rumpsteak_net::Net)]  generated routes are `Net<Label>`
//! #[protocol(Hospital, derive(Clone))]                generated messages have these derives, too
//! #[protocol(Hospital, fair)]                         less liveness is asked for: of all roles,
//! #[protocol(Hospital, fair(p, q), every_run(r))]     or of these
//! #[protocol(Hospital, accept_closed_system)]         its sessions may be proven together
//! #[protocol(Hospital, limits(bound = 20))]           the verifier gives up later
//! #[protocol(Hospital, crate = "rt")]                 the runtime is the crate `rt`
//! #[closed_system]                                    there is no protocol
//! ```

use proc_macro2::Ident;
use syn::Path;

/// The arguments of the attribute.
pub struct Arguments {
    /// The protocol; `None` for a closed system without one.
    pub protocol: Option<Ident>,
    /// The type of generated routes, unless they are channels.
    pub routes: Option<Path>,
    /// What generated messages derive, beside `Message`.
    pub derives: Vec<Path>,
    /// The liveness that is asked of roles; a name is a role of the protocol.
    pub liveness: Vec<Asked>,
    /// The word `accept_closed_system`, if it is there.
    pub accepts_closed_system: Option<Ident>,
    /// The limits of the verifier: each the name of a setting of `Limits`, and its value.
    pub limits: Vec<(Ident, usize)>,
    /// The path of the runtime's crate in `crate = "…"`, if it is there.
    pub krate: Option<Path>,
}

/// A liveness that is asked of roles.
pub struct Asked {
    /// How much is asked.
    pub liveness: Liveness,
    /// The roles of the protocol; all of them if there is none.
    pub roles: Vec<Ident>,
}

/// When a message that waits is received, and a role that waits is served.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Liveness {
    /// `every_run`: in every run, whatever the roles choose; as long as a role that can do
    /// something does so sooner or later.
    EveryRun,
    /// `fair`: if choices are fair. Wherever the roles are, they can still choose so that it
    /// happens. A role may choose for ever so that others wait, and messages pile up.
    Fair,
}
