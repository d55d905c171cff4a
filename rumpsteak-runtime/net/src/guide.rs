// GitHub shows the guide as well, so its links have no paths: they resolve by these imports.

//! [Transports]: self::transports
//! [Browser]: self::browser
//! [Failure]: self::failure
//! [Delegation]: self::delegation
#![cfg_attr(feature = "nats", doc = "[Stored roles]: self::stored")]
#![cfg_attr(not(feature = "nats"), doc = "[Stored roles]: crate::transport")]
//!
#![doc = include_str!("../guide/README.md")]

#[cfg(doc)]
use rumpsteak_runtime::{Detached, ErrorKind};

#[cfg(doc)]
use crate::{transport::*, *};

macro_rules! chapters {
    ($($chapter:ident)*) => {
        $(
            /// [`peer`]: crate::Join::peer
            /// [Browser]: crate::guide::browser
            /// [Transports]: crate::guide::transports
            /// [channels]: rumpsteak_runtime::guide::channels
            /// [peers]: rumpsteak_runtime::guide::peers
            #[cfg_attr(feature = "nats", doc = "[stored]: crate::guide::stored")]
            #[cfg_attr(not(feature = "nats"), doc = "[stored]: crate::transport")]
            #[cfg_attr(feature = "websocket", doc = "[`WebSocket::over`]: crate::transport::WebSocket")]
            #[cfg_attr(not(feature = "websocket"), doc = "[`WebSocket::over`]: crate::transport")]
            ///
            #[doc = include_str!(concat!("../guide/", stringify!($chapter), ".md"))]
            pub mod $chapter {}
        )*
    };
}

chapters!(transports browser failure delegation);

#[cfg(feature = "nats")]
chapters!(stored);
