// The guide is also read on a forge. Here its links get targets in this documentation, which take
// precedence over the links to files.

//! [`module`]: self::module
//! [`linearity`]: self::linearity
//! [`recursion`]: self::recursion
//! [`choice`]: self::choice
//! [`peers`]: self::peers
//! [`families`]: self::families
//! [`interrupts`]: self::interrupts
//! [`failure`]: self::failure
//! [`server`]: self::server
//! [`executors`]: self::executors
//! [`channels`]: self::channels
//! [`testing`]: self::testing
//! [`errors`]: self::errors
//!
#![doc = include_str!("../guide/README.md")]

#[cfg(doc)]
use crate::{error::Unsent, states::End, testing::*, transport::*, *};

macro_rules! chapters {
    ($($chapter:ident)*) => {
        $(
            /// [`Channel`]: crate::Channel
            /// [`ErrorKind::Closed`]: crate::ErrorKind::Closed
            /// [`ErrorKind::SecondSession`]: crate::ErrorKind::SecondSession
            /// [`join`]: crate::join()
            /// [`Branch`]: crate::states::Branch
            /// [`Gather`]: crate::states::Gather
            /// [`Race`]: crate::states::Race
            /// [`Select`]: crate::states::Select
            /// [`select_or_return`]: crate::states::Select::select_or_return
            /// [`send_or_return`]: crate::states::Send::send_or_return
            /// [`into_inner`]: crate::transport::Bidirectional::into_inner
            /// [`pair`]: crate::transport::Pair::pair
            /// [`route`]: crate::transport::Route::route
            /// [`channels`]: crate::guide::channels
            /// [`choice`]: crate::guide::choice
            /// [`peers`]: crate::guide::peers
            /// [`interrupts`]: crate::guide::interrupts
            /// [`failure`]: crate::guide::failure
            /// [`executors`]: crate::guide::executors
            /// [`linearity`]: crate::guide::linearity
            /// [`server`]: crate::guide::server
            /// [`testing`]: mod@crate::guide::testing
            ///
            #[doc = include_str!(concat!("../guide/", stringify!($chapter), ".md"))]
            pub mod $chapter {}
        )*
    };
}

chapters!(module linearity recursion choice peers families interrupts failure server executors channels testing errors);
