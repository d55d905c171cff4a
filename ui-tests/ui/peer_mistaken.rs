//! An option names a peer that sends another label.

#[rumpsteak::protocol(Either)]
mod either {
    #[session(C)]
    type Hears = Branch<First>;

    enum First {
        OfA(Receive<A, Answer, Send<D, Done, End>>),
        OfB(Receive<D, Answer, Send<D, Done, End>>),
    }
}

fn main() {}
