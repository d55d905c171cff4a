//! The producer may send `stop`, which this consumer does not expect.

#[rumpsteak::protocol(Numbers)]
mod numbers {
    #[session(Q)]
    type Consumer = Branch<P, Next>;

    enum Next {
        Number(Number, Consumer),
    }
}

fn main() {}
