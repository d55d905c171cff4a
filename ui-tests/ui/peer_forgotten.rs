//! Either peer may answer, and one is not listened to.

#[rumpsteak::protocol(Either)]
mod either {
    #[session(C)]
    type Hears = Branch<First>;

    enum First {
        OfA(Receive<A, Answer, Send<D, Done, End>>),
    }
}

fn main() {}
