use rumpsteak_runtime::{Channel, Message, Role, Roles, session};
#[derive(Roles)] pub struct All { pub s: S, pub k: K }
#[derive(Role)] #[protocol(P::s)] #[message(Label)] pub struct S { #[route(K)] k: Channel<Label> }
#[derive(Role)] #[protocol(P::k)] #[message(Label)] struct K { #[route(S)] s: Channel<Label> }
#[derive(Message)] enum Label { Ping(Ping), Pong(Pong), #[message(name = "stop")] End(Stop) }
struct Ping(i32); struct Pong; pub(crate) struct Stop {}
#[session(K)] type Kernel<'s> = Receive<S, Ping, Select<S, Answer>>;
#[session] enum Answer { Pong(Pong, Kernel), Stop(Stop, End) }
#[session(S)] struct Source(Send<K, Ping, Branch<K, Heard>>);
#[session] enum Heard { Pong(Pong, Source), Stop(Stop, End) }
