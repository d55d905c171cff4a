// The guide is also read on a forge. Here its links get targets in this documentation, which take
// precedence over the links to files.

#![doc = include_str!("guide_links.md")]
#![doc = include_str!("../guide/README.md")]

#[cfg(doc)]
use crate::{error::Unsent, states::End, testing::*, transport::*, *};

macro_rules! chapters {
    ($($chapter:ident)*) => {
        $(
            #[doc = include_str!("guide_links.md")]
            #[doc = include_str!(concat!("../guide/", stringify!($chapter), ".md"))]
            pub mod $chapter {}
        )*
    };
}

chapters!(module linearity recursion choice peers families interrupts failure server executors channels testing errors);
