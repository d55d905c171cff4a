//! A `cfg` would hide an option from rustc that was verified.

#[rumpsteak::protocol(Numbers)]
mod numbers {
    #[session(Q)]
    type Consumer = Branch<P, Next>;

    enum Next {
        Number(Number, Consumer),
        #[cfg(debug_assertions)]
        Stop(Stop, Send<P, Sum, End>),
    }
}

fn main() {}
