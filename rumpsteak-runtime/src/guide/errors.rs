//! How to read the compiler's errors.
//!
//! Three parties speak. The **build script** says what is wrong with a session as a whole, at the
//! token of the `#[session]` item that is at fault. The **attributes and derives** say what they
//! cannot understand. **rustc** says where a process does not follow its session.
//!
//! # "unsafe reordering": the verification
//!
//! ```text
//! error: unsafe reordering: `Client` receives `Pong` from `S` before it sends `Ping` to `S`
//!
//!         --> ui-tests/protocols/ping.scr:4:3
//!          |
//!        4 |   ping(i32) from c to s;
//!          |   ^^^^^^^^^^^^^^^^^^^^^^ the protocol has `c` send this first …
//!        5 |   pong(i32) from s to c;
//!          |   ---------------------- … and receive this afterwards
//!
//!        the shortest run that gets stuck, with all other roles as the protocol has them:
//!
//!             c                       s
//!             │                       │
//!          c waits for pong(i32) from s
//!          s waits for ping(i32) from c
//!          nobody can move
//!
//!        help: send `Ping` to `S` before this; a send may move ahead of a receive, never a receive ahead of a send
//!   --> ui/unsafe_reordering.rs:31:19
//!    |
//! 31 | pub type Client = Receive<S, Pong, Send<S, Ping, End>>;
//!    |                   ^^^^^^^
//! ```
//!
//! From the bottom up: the place in the session, the way out, a run in which all roles behave as
//! written and yet one waits for ever, and the lines of the protocol that order the two
//! actions the other way round. No role has to misbehave for this run to happen: only the timing is
//! bad luck.
//!
//! # "was not verified": the build script did not see the item
//!
//! ```text
//! error: `Unseen` was not verified: the build script did not see this item as it stands here
//! ```
//!
//! The build script reads source files and does not expand macros. Write the session out, in a file
//! that a `mod` leads to. The same message appears when there is no build script, and says so.
//!
//! # "expected `Ping`, found `Pong`": a label that is not next
//!
//! ```text
//! error[E0308]: mismatched types
//!  --> ui/wrong_label.rs:8:37
//!   |
//! 8 |         let (Pong(_), end) = s.send(Pong(1)).await?.receive().await?;
//!   |                                ---- ^^^^^^^ expected `Ping`, found `Pong`
//! ```
//!
//! # "no method named `receive` found for struct `Send<…>`": another action is next
//!
//! ```text
//! error[E0599]: no method named `receive` found for struct `Send<'s, R, P, L, C>` in the current scope
//!   |
//! 8 |         let (Pong(answer), s) = s.receive().await?;
//!   |                                   ^^^^^^^ method not found in `Send<'_, C, S, Ping, Receive<'_, C, S, Pong, End<'_, C>>>`
//! ```
//!
//! Read the type from the left: the lifetime of the session, the role that runs it, the peer, the
//! label, and then what follows. This role, `C`, must send `Ping` to `S` next.
//!
//! # "use of moved value": a state used twice
//!
//! ```text
//! error[E0382]: use of moved value: `s`
//! 8 |         s.send(Ping(1)).await?;
//!   |           ------------- `s` moved due to this method call
//! ```
//!
//! Bind what the action returns: `let s = s.send(Ping(1)).await?;`.
//!
//! # "expected `End<'_, C>`, found …": a process that stops too early
//!
//! ```text
//! error[E0308]: mismatched types
//! 10 | |     })
//!    | |_____^ expected `End<'_, C>`, found `Receive<'_, C, S, Pong, End<'_, C>>`
//! ```
//!
//! The type that was found is the part of the session that is left to do. If the process returns no
//! state at all, rustc says ``expected `(_, End<'_, C>)` ``: return the end beside the value,
//! `Ok((value, end))`.
//!
//! # "does not offer the label", "not covered": choices
//!
//! ```text
//! error[E0277]: `More<'_, P>` does not offer the label `Sum`
//! error[E0004]: non-exhaustive patterns: `Next::Stop(_, _)` not covered
//! ```
//!
//! # "has no verified session that begins like this"
//!
//! `try_run` was given a type that no `#[session(Role)]` names: a part of a session, a session of
//! another role, or a closure without a type. Name it: `async |s: Client<'_>| …`.
//!
//! # "future cannot be sent between threads safely"
//!
//! The note below the message names the value that the process keeps across an `await`. The states
//! of a session are `Send` if the role is, and a role is if its messages are.
