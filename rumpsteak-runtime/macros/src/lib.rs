//! The macros of [`rumpsteak-runtime`](https://docs.rs/rumpsteak-runtime), which re-exports them:
//! use that crate.
//!
//! Both stand on a module. `rumpsteak-front` parses it, `rumpsteak-build` judges it, as the build
//! script does, and this crate makes the code of its items:
//!
//! | item | module | code |
//! |---|---|---|
//! | the module | `module` | its items, those that it does not write, and the errors |
//! | a message type | `message` | how labels become messages, and back |
//! | the types in a label | `payload` | that the protocol says so |
//! | a role | `role` | its routes |
//! | a set of roles | `set` | how it is wired, reset and run |
//! | a session | `session` | the session type, and the proof that it was verified |

mod message;
mod module;
mod payload;
mod role;
mod scope;
mod session;
mod set;
mod tokens;

use proc_macro::TokenStream;
use rumpsteak_front::ModuleKind;

/// Makes a module the program of a protocol: its roles, messages, sessions, and the set of roles.
///
/// ```text
/// #[protocol(DoubleBuffering)]                 protocols/double_buffering.scr
/// mod double_buffering {
///     use super::Frame;                        payloads come from outside
///
///     #[session(K)]                            a session of the role K, verified
///     type Kernel = Send<S, Ready, Loop>;
///     struct Loop(Receive<S, Value, Send<S, Ready, Receive<T, Ready, Send<T, Value, Self>>>>);
/// }
/// ```
///
/// Items that the module does not write are generated: a struct for each role and each message, the
/// message type `Label`, the set `Roles`, and for each role `k` the session `KSession`, in the
/// order of the protocol. Each of them can be written in its place:
///
/// ```text
/// #[derive(Roles)]
/// struct Roles { s: S, k: K, t: T }            one field for each role
///
/// #[derive(Role)]
/// #[message(Label)]                            the type of all messages of the role
/// struct K {
///     #[route(S)] s: Channel<Label>,           one field for each peer
///     #[route(T)] t: Channel<Label>,
/// }
///
/// #[derive(Message)]
/// enum Label { Ready(Ready), Value(Value) }    one variant for each label
/// struct Ready;
/// struct Value(i32);
///
/// #[session(S)]
/// enum Choice {                                the options of a `Select` or `Branch`
///     Continue(Continue, Branch<A, Self>),
///     Stop(Stop, End),
/// }
/// ```
///
/// A name in the protocol and a name in Rust are the same without regard to case and `_`.
/// `#[protocol(P::k)]` or `#[role("k")]` on a role, and `#[label("…")]` on a variant, say another
/// name.
///
/// A session gets the lifetime `'s` of the session, and a part of a session, which names no role,
/// the role as well. Write `Kernel<'_>` and `Loop<'_, K>`.
///
/// After the name of the protocol, the attribute takes `routes = rumpsteak_net::Net`, a generic
/// type in place of `Channel` for generated routes; `derive(Clone)` for generated messages; what is
/// asked of the verifier (`fair`, `every_run`, `accept_closed_system`, `limits(…)`); and
/// `crate = "…"`, the path of the runtime.
#[proc_macro_attribute]
pub fn protocol(arguments: TokenStream, item: TokenStream) -> TokenStream {
    module::expand(ModuleKind::Protocol, arguments.into(), item.into()).into()
}

/// Makes a module a closed system: roles without a protocol, whose sessions are verified together,
/// by k-multiparty compatibility.
///
/// ```text
/// #[closed_system]
/// mod ping {
///     #[session(C)]
///     type Client = Send<S, Ping, Receive<S, Pong, End>>;
///     #[session(S)]
///     type Server = Receive<C, Ping, Send<C, Pong, End>>;
///
///     struct Ping(i32);
///     struct Pong(i32);
/// }
/// ```
///
/// Each role has at least one session. Everything else is as in [`protocol`](macro@protocol).
#[proc_macro_attribute]
pub fn closed_system(arguments: TokenStream, item: TokenStream) -> TokenStream {
    module::expand(ModuleKind::ClosedSystem, arguments.into(), item.into()).into()
}
