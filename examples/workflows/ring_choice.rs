//! The ring with choice in all three workflows.

pub mod top_down {
    #[rumpsteak::protocol(RingChoice)]
    pub mod ring_choice {}
    use ring_choice::*;
    include!("processes/ring_choice.rs");
}

pub mod hybrid {
    #[rumpsteak::protocol(RingChoice)]
    pub mod ring_choice {
        #[session(A)]
        type ASession = Send<B, Add, Branch<C, AAddChoice>>;

        enum AAddChoice {
            Add(Add, ASession),
            Sub(Sub, ASession),
        }

        #[session(B)]
        type BSession = Receive<A, Add, Select<C, BChoice>>;

        enum BChoice {
            Add(Add, BSession),
            Sub(Sub, BSession),
        }

        #[session(C)]
        type CSession = Branch<B, CAddChoice>;

        enum CAddChoice {
            Add(Add, Send<A, Add, Branch<B, Self>>),
            Sub(Sub, Send<A, Sub, Branch<B, Self>>),
        }
    }
    use ring_choice::*;
    include!("processes/ring_choice.rs");
}

pub mod bottom_up {
    #[rumpsteak::closed_system]
    pub mod ring_choice {
        struct Add(i32);
        struct Sub(i32);

        #[session(A)]
        type ASession = Send<B, Add, Branch<C, AAddChoice>>;

        enum AAddChoice {
            Add(Add, ASession),
            Sub(Sub, ASession),
        }

        #[session(B)]
        type BSession = Receive<A, Add, Select<C, BChoice>>;

        enum BChoice {
            Add(Add, BSession),
            Sub(Sub, BSession),
        }

        #[session(C)]
        type CSession = Branch<B, CAddChoice>;

        enum CAddChoice {
            Add(Add, Send<A, Add, Branch<B, Self>>),
            Sub(Sub, Send<A, Sub, Branch<B, Self>>),
        }
    }
    use ring_choice::*;
    include!("processes/ring_choice.rs");
}
