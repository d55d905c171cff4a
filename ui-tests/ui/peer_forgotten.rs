//! Either peer may answer, but the process only handles one.

#[rumpsteak::protocol(Either)]
mod either {
    #[session(C)]
    type Hears = Branch<First>;

    enum First {
        OfA(Receive<A, Answer, Send<D, Done, End>>),
    }
}

fn main() {}
