//! The alternating bit in all three workflows.

pub mod top_down {
    #[rumpsteak::protocol(AlternatingBit)]
    pub mod alternating_bit {}
    use alternating_bit::*;
    include!("processes/alternating_bit.rs");
}

pub mod hybrid {
    #[rumpsteak::protocol(AlternatingBit)]
    pub mod alternating_bit {
        #[session(S)]
        type SSession = Send<R, D0, Branch<R, SA0Choice>>;

        enum SA0Choice {
            A0(A0, Send<R, D1, Branch<R, Self>>),
            A1(A1, SSession),
        }

        #[session(R)]
        type RSession = Receive<S, D0, Select<S, RA0Choice>>;

        enum RA0Choice {
            A0(A0, Receive<S, D1, Select<S, Self>>),
            A1(A1, RSession),
        }
    }
    use alternating_bit::*;
    include!("processes/alternating_bit.rs");
}

pub mod bottom_up {
    #[rumpsteak::closed_system]
    pub mod alternating_bit {
        struct D0(Vec<u8>);
        struct A0;
        struct D1(Vec<u8>);
        struct A1;

        #[session(S)]
        type SSession = Send<R, D0, Branch<R, SA0Choice>>;

        enum SA0Choice {
            A0(A0, Send<R, D1, Branch<R, Self>>),
            A1(A1, SSession),
        }

        #[session(R)]
        type RSession = Receive<S, D0, Select<S, RA0Choice>>;

        enum RA0Choice {
            A0(A0, Receive<S, D1, Select<S, Self>>),
            A1(A1, RSession),
        }
    }
    use alternating_bit::*;
    include!("processes/alternating_bit.rs");
}
