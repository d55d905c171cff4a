//! Double buffering over `rumpsteak` 0.1: two buffers, which the kernel copies from the source and
//! passes on to the sink.

use rumpsteak::role::{Nil, Role, Roles, ToFrom};
use rumpsteak::{End, Label, Receive, Result, Send, try_session};

/// All roles.
#[derive(Roles)]
pub struct Roles(pub S, pub K, pub T);

/// The source.
#[derive(Role)]
#[message(Message)]
pub struct S(#[route(K)] ToFrom<K>, #[route(T)] Nil<T>);

/// The kernel.
#[derive(Role)]
#[message(Message)]
pub struct K(#[route(S)] ToFrom<S>, #[route(T)] ToFrom<T>);

/// The sink.
#[derive(Role)]
#[message(Message)]
pub struct T(#[route(S)] Nil<S>, #[route(K)] ToFrom<K>);

/// The messages.
#[derive(Label)]
pub enum Message {
    /// Asks for a buffer.
    Ready(Ready),
    /// Answers with one.
    Copy(Copy),
}

/// Asks for a buffer.
pub struct Ready;
/// A buffer.
pub struct Copy(pub Vec<i32>);

type Source<'s> = Receive<
    's,
    S,
    K,
    Ready,
    Send<'s, S, K, Copy, Receive<'s, S, K, Ready, Send<'s, S, K, Copy, End<'s>>>>,
>;

type Half<'s, C> = Send<
    's,
    K,
    S,
    Ready,
    Receive<'s, K, S, Copy, Receive<'s, K, T, Ready, Send<'s, K, T, Copy, C>>>,
>;

type Kernel<'s> = Half<'s, Half<'s, End<'s>>>;

type Sink<'s> = Send<
    's,
    T,
    K,
    Ready,
    Receive<'s, T, K, Copy, Send<'s, T, K, Ready, Receive<'s, T, K, Copy, End<'s>>>>,
>;

/// Sends a copy of each buffer.
pub async fn source(role: &mut S, buffers: [&[i32]; 2]) -> Result<()> {
    try_session(role, |s: Source<'_>| async {
        let (Ready, s) = s.receive().await?;
        let s = s.send(Copy(buffers[0].to_vec()))?;
        let (Ready, s) = s.receive().await?;
        Ok(((), s.send(Copy(buffers[1].to_vec()))?))
    })
    .await
}

/// Passes both on.
pub async fn kernel(role: &mut K) -> Result<()> {
    try_session(role, |s: Kernel<'_>| async {
        let (Copy(first), s) = s.send(Ready)?.receive().await?;
        let (Ready, s) = s.receive().await?;
        let s = s.send(Copy(first))?;
        let (Copy(second), s) = s.send(Ready)?.receive().await?;
        let (Ready, s) = s.receive().await?;
        Ok(((), s.send(Copy(second))?))
    })
    .await
}

/// Receives both.
pub async fn sink(role: &mut T) -> Result<[Vec<i32>; 2]> {
    try_session(role, |s: Sink<'_>| async {
        let (Copy(first), s) = s.send(Ready)?.receive().await?;
        let (Copy(second), s) = s.send(Ready)?.receive().await?;
        Ok(([first, second], s))
    })
    .await
}
