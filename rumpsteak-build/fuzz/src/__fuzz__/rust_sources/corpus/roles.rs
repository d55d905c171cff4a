#[rumpsteak::protocol(P)]
pub mod p {
    #[derive(Roles)] pub struct All { pub s: S, pub k: K }
    #[derive(Role)] #[protocol(P::s)] #[message(Label)] pub struct S { #[route(K)] k: Channel<Label> }
    #[derive(Role)] #[role("k")] #[message(Label)] struct K { #[route(S)] s: Channel<Label> }
    #[derive(Message)] enum Label { Ping(Ping), Pong(Pong), #[label("stop")] End(Stop) }
    struct Ping(i32); struct Pong; pub(crate) struct Stop {}
    #[session(K)] type Kernel = Receive<S, Ping, Select<S, Answer>>;
    enum Answer { Pong(Pong, Kernel), Stop(Stop, End) }
    #[session(S)] struct Source(Send<K, Ping, Branch<K, Heard>>);
    #[session] enum Heard { Pong(Pong, Source), Stop(Stop, End) }
}
