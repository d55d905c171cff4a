// The guide is read on a forge, too: so what its links mean in this documentation stands here,
// before what they mean among the files.

//! [Transports]: self::transports
//! [Failure]: self::failure
//! [Delegation]: self::delegation
//!
#![doc = include_str!("../guide/README.md")]

macro_rules! chapters {
    ($($chapter:ident)*) => {
        $(
            /// [`Bridge`]: crate::Bridge
            /// [`Directory`]: crate::Directory
            /// [`Host`]: crate::Host
            /// [`Host::told`]: crate::Host::told
            /// [`peer`]: crate::Join::peer
            /// [`Joined::leave`]: crate::Joined::leave
            /// [`Joined::play`]: crate::Joined::play
            /// [`Joined::pack`]: crate::Joined::pack
            /// [`Parcel`]: crate::Parcel
            /// [`Parcel::unpack`]: crate::Parcel::unpack
            /// [`Detached`]: rumpsteak_runtime::Detached
            /// [`End`]: rumpsteak_runtime::states::End
            /// [`Limits`]: crate::Limits
            /// [`Limits::connections`]: crate::Limits::connections
            /// [`Limits::connections_of_address`]: crate::Limits::connections_of_address
            /// [`Limits::frame`]: crate::Limits::frame
            /// [`Limits::join`]: crate::Limits::join
            /// [`Limits::resume`]: crate::Limits::resume
            /// [`NetError::Absent`]: crate::NetError::Absent
            /// [`NetError::Call`]: crate::NetError::Call
            /// [`NetError::Decode`]: crate::NetError::Decode
            /// [`NetError::Encode`]: crate::NetError::Encode
            /// [`NetError::Expected`]: crate::NetError::Expected
            /// [`NetError::Frame`]: crate::NetError::Frame
            /// [`NetError::Lost`]: crate::NetError::Lost
            /// [`NetError::Refused`]: crate::NetError::Refused
            /// [Transports]: crate::guide::transports
            /// [`Connection`]: crate::transport::Connection
            /// [`Connection::only_for`]: crate::transport::Connection::only_for
            /// [`Transport`]: crate::transport::Transport
            /// [`Transports`]: crate::transport::Transports
            #[cfg_attr(feature = "websocket", doc = "[`WebSocket::over`]: crate::transport::WebSocket")]
            #[cfg_attr(not(feature = "websocket"), doc = "[`WebSocket::over`]: crate::transport")]
            /// [`ErrorKind::Closed`]: rumpsteak_runtime::ErrorKind::Closed
            /// [`ErrorKind::Leave`]: rumpsteak_runtime::ErrorKind::Leave
            /// [`ErrorKind::Transport`]: rumpsteak_runtime::ErrorKind::Transport
            ///
            #[doc = include_str!(concat!("../guide/", stringify!($chapter), ".md"))]
            pub mod $chapter {}
        )*
    };
}

chapters!(transports failure delegation);
