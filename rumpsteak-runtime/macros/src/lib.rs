//! The macros of [`rumpsteak-runtime`](https://docs.rs/rumpsteak-runtime), which re-exports them:
//! use that crate.
//!
//! Both are attributes of a module. `rumpsteak-front` parses the module, `rumpsteak-build` judges
//! it as the build script does, and this crate expands its items:
//!
//! | item | source module | code |
//! |---|---|---|
//! | the module | `module` | its items, generated items, and errors |
//! | a message type | `message` | conversion of labels to messages and back |
//! | a label | `payload` | a check that its types are the protocol's |
//! | a role | `role` | its routes |
//! | a set of roles | `set` | wiring, resetting and running |
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

/// Makes a module the program of a protocol, with its roles, messages, sessions, and set of roles.
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
/// Missing items are generated: a struct for each role and each message, the message type `Label`,
/// the set `Roles`, and for each role `k` the session `KSession`, in the order of the protocol. You
/// can write each of them yourself: the guide has
/// [an example](https://docs.rs/rumpsteak-runtime/latest/rumpsteak_runtime/guide/module/).
///
/// Names in Rust are compared with names in the protocol ignoring case and `_`. To use another
/// name, write `#[protocol(P::k)]` or `#[role("k")]` on a role, and `#[label("…")]` on a variant.
///
/// A session has a lifetime parameter, so write `Kernel<'_>`. A part of a session names no role, so
/// it has a role parameter too: `Loop<'_, K>`.
///
/// After the name of the protocol, the attribute takes:
///
/// * `routes = rumpsteak_net::Net`, a generic type to use for generated routes instead of
///   `Channel`;
/// * `capacity = 4` or `unbounded`, the room of routes that do not declare theirs:
///   `#[route(S, capacity = 4)]`;
/// * `derive(Clone)`, for generated messages;
/// * settings of the verifier: `fair`, `every_run`, `accept_closed_system`, `limits(…)`;
/// * `crate = "…"`, the path of the runtime.
#[proc_macro_attribute]
pub fn protocol(arguments: TokenStream, item: TokenStream) -> TokenStream {
    module::expand(ModuleKind::Protocol, arguments.into(), item.into()).into()
}

/// Makes a module a closed system: roles without a protocol, whose sessions are verified together
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
/// Each role needs a session. Everything else is as in [`protocol`](macro@protocol).
#[proc_macro_attribute]
pub fn closed_system(arguments: TokenStream, item: TokenStream) -> TokenStream {
    module::expand(ModuleKind::ClosedSystem, arguments.into(), item.into()).into()
}
