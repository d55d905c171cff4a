//! The macros of [`rumpsteak-runtime`](https://docs.rs/rumpsteak-runtime), which re-exports them:
//! use that crate.
//!
//! | macro | module | gives |
//! |---|---|---|
//! | `#[derive(Message)]` | `message` | the message type that channels carry, from one type per label |
//! | `#[derive(Role)]` | `role` | a participant of a protocol, from its routes |
//! | `#[derive(Roles)]` | `roles` | a set of roles, wired to each other |
//! | `#[session]` | `session` | a session type, and the proof that it was verified |
//! | `protocol!(…)` | `protocol` | the code that the build script generated for a protocol |
//! | `include_protocols!()` | `verdict` | the problems of the protocol files |
//!
//! The macros verify nothing. The build script does, and leaves its verdicts in `OUT_DIR`, where
//! `verdict` reads them. Both sides parse with `rumpsteak-contract`, so they accept the same
//! language.

mod message;
mod protocol;
mod role;
mod roles;
mod session;
mod tokens;
mod verdict;

use proc_macro::TokenStream;

/// Makes an enum of labels, or a single label, a message type.
///
/// Each variant carries one label, a type of its own. The label's name in the protocol is the name
/// of the variant, compared without regard to case and `_`; `#[label("…")]` on the variant names it
/// literally.
///
/// ```text
/// #[derive(Message)]
/// enum Label {
///     Ready(Ready),
///     #[label("value")]
///     Item(Value),
/// }
///
/// struct Ready;
/// struct Value(i32);
/// ```
///
/// On a struct, the struct is the only label: `#[derive(Message)] struct Tick(u64);`.
#[proc_macro_derive(Message, attributes(label, rumpsteak))]
pub fn derive_message(input: TokenStream) -> TokenStream {
    message::expand(input.into()).into()
}

/// Makes a struct of routes a role.
///
/// ```text
/// #[derive(Role)]
/// #[protocol(DoubleBuffering::k)]     which role of which protocol the struct plays
/// #[message(Label)]                   the message type that it exchanges with its peers
/// struct K {
///     #[route(S)] s: Channel<Label>,  one field per peer
///     #[route(T)] t: Channel<Label>,
/// }
/// ```
///
/// A tuple struct does as well. `#[protocol(DoubleBuffering)]` alone means the role with the name
/// of the struct, compared without regard to case and `_`, or with the literal name in
/// `#[role("…")]`. A role without `#[protocol(…)]` belongs to no protocol file.
///
/// Where the build script found that the protocol or the role does not exist, the derive raises its
/// error at the attribute.
#[proc_macro_derive(Role, attributes(message, protocol, role, route, rumpsteak))]
pub fn derive_role(input: TokenStream) -> TokenStream {
    role::expand(input.into()).into()
}

/// Wires a set of roles: implements `Default` for a struct with one field per role.
///
/// ```text
/// #[derive(Roles)]
/// struct Roles { s: S, k: K, t: T }
///
/// let Roles { s, k, t } = Roles::default();
/// ```
///
/// The routes are connected by the types of the roles, never by their position: the route
/// `#[route(T)]` of `S` and the route `#[route(S)]` of `T` become the two ends of one channel. A
/// set that lacks a peer, a route without a way back, two roles of different protocols, and two
/// structs that play the same role do not compile.
///
/// The set also gets `reset`, and `reset_each` for roles that were taken out of it: both replace
/// all routes by fresh ones, so that roles which were poisoned can begin a session again.
///
/// ```text
/// roles.reset();
/// Roles::reset_each(&mut s, &mut k, &mut t);
/// ```
///
/// `#[closed_system]` says that there is no protocol: the roles have no `#[protocol(…)]`, and the
/// build script verifies the sessions of all of them together, by k-multiparty compatibility. Each
/// role has at least one session then.
///
/// ```text
/// #[derive(Roles)]
/// #[closed_system]
/// struct Roles { s: S, k: K, t: T }
/// ```
#[proc_macro_derive(Roles, attributes(closed_system, rumpsteak))]
pub fn derive_roles(input: TokenStream) -> TokenStream {
    roles::expand(input.into()).into()
}

/// Makes a `type`, `struct` or `enum` a session type, and gives the proof that it was verified.
///
/// ```text
/// #[session(K)]                       what the role K runs: verified against the protocol
/// type Kernel = Send<S, Ready, KernelLoop>;
///
/// #[session]                          a part of a session: a struct may refer to itself
/// struct KernelLoop(Send<S, Ready, Receive<S, Value, Receive<T, Ready, Send<T, Value, Self>>>>);
///
/// #[session]                          the alternatives of a `Select` or `Branch`
/// enum Choice {
///     Continue(Continue, Branch<A, Self>),
///     Stop(Stop, End),
/// }
/// ```
///
/// The attribute adds the parameters that the source leaves out: the lifetime `'s` of the session
/// and its role `R`. Refer to the types as `Kernel<'_>` or `Kernel<'_, _>`, and to parts as
/// `KernelLoop<'_, K>`.
///
/// A struct gets the method of the action that it begins with, so that it is used like the session
/// inside; `into_session` unwraps it.
///
/// `#[session(K)]` implements the proof that `try_session` demands, if the build script recorded a
/// passing verdict for exactly these tokens. Otherwise the errors appear at the tokens at fault.
#[proc_macro_attribute]
pub fn session(arguments: TokenStream, item: TokenStream) -> TokenStream {
    session::expand(arguments.into(), item.into()).into()
}

/// Takes the attributes of a role off a struct that is none, for want of the derive that they
/// belong to: its error is raised elsewhere.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn __underived(_: TokenStream, item: TokenStream) -> TokenStream {
    role::without_attributes(item.into()).into()
}

/// Includes the code that the build script generated for a protocol, as a module.
///
/// ```text
/// // build.rs: rumpsteak_build::configure().protocols("protocols").generate().verify()?
/// rumpsteak_runtime::protocol!(DoubleBuffering);            mod double_buffering { … }
/// rumpsteak_runtime::protocol!(pub DoubleBuffering);        pub mod double_buffering { … }
/// rumpsteak_runtime::protocol!(
///     DoubleBuffering,
///     routes = rumpsteak_net::Net,                          a generic type: `Channel` without it
///     derive(serde::Serialize, serde::Deserialize),         of messages, beside `Message`
/// );
/// ```
///
/// The module has a set of roles, `Roles`; a struct for each role; the message type `Label` and a
/// struct for each message; and for each role `k` the session `KSession`, documented with a picture
/// of its machine. A machine that lies beside the `.scr` file, such as `double_buffering.k.dot`,
/// takes the place of the role's order in the protocol. If it is unsafe, the macro raises the
/// error.
///
/// Attributes before the name are those of the module.
#[proc_macro]
pub fn protocol(input: TokenStream) -> TokenStream {
    protocol::expand(input.into()).into()
}

/// Raises the problems of the protocol files that belong to no place in the Rust source, such as a
/// syntax error in a `.scr` file. Write it once, anywhere in the crate: `include_protocols!();`.
#[proc_macro]
pub fn include_protocols(input: TokenStream) -> TokenStream {
    verdict::include(input.into()).into()
}
