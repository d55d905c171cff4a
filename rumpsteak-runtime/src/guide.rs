// The guide is read on a forge, too. Here are the targets of its links in this documentation; they
// come before those among the files.

//! [`module`]: self::module
//! [`linearity`]: self::linearity
//! [`recursion`]: self::recursion
//! [`choice`]: self::choice
//! [`peers`]: self::peers
//! [`interrupts`]: self::interrupts
//! [`failure`]: self::failure
//! [`executors`]: self::executors
//! [`channels`]: self::channels
//! [`testing`]: self::testing
//! [`errors`]: self::errors
//!
#![doc = include_str!("../guide/README.md")]

macro_rules! chapters {
    ($($chapter:ident)*) => {
        $(
            /// [`Channel`]: crate::Channel
            /// [`Detached`]: crate::Detached
            /// [`ErrorKind::Closed`]: crate::ErrorKind::Closed
            /// [`ErrorKind::ForeignEnd`]: crate::ErrorKind::ForeignEnd
            /// [`ErrorKind::Misplaced`]: crate::ErrorKind::Misplaced
            /// [`ErrorKind::Outside`]: crate::ErrorKind::Outside
            /// [`ErrorKind::Poisoned`]: crate::ErrorKind::Poisoned
            /// [`ErrorKind::SecondSession`]: crate::ErrorKind::SecondSession
            /// [`ErrorKind::Unexpected`]: crate::ErrorKind::Unexpected
            /// [`Unsent`]: crate::error::Unsent
            /// [`join`]: crate::join()
            /// [`Branch`]: crate::states::Branch
            /// [`End`]: crate::states::End
            /// [`Race`]: crate::states::Race
            /// [`Select`]: crate::states::Select
            /// [`select_or_return`]: crate::states::Select::select_or_return
            /// [`send_or_return`]: crate::states::Send::send_or_return
            /// [`Bidirectional`]: crate::transport::Bidirectional
            /// [`into_inner`]: crate::transport::Bidirectional::into_inner
            /// [`Mark`]: crate::transport::Mark
            /// [`pair`]: crate::transport::Pair::pair
            /// [`route`]: crate::transport::Route::route
            /// [`choice`]: crate::guide::choice
            /// [`peers`]: crate::guide::peers
            /// [`interrupts`]: crate::guide::interrupts
            /// [`failure`]: crate::guide::failure
            /// [`linearity`]: crate::guide::linearity
            ///
            #[doc = include_str!(concat!("../guide/", stringify!($chapter), ".md"))]
            pub mod $chapter {}
        )*
    };
}

chapters!(module linearity recursion choice peers interrupts failure executors channels testing errors);
