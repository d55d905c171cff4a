//! Verifies the sessions of all examples against their protocols, which are at the top level, and
//! generates code for those who want it.

use rumpsteak_build::Liveness;

fn main() -> Result<(), rumpsteak_build::Report> {
    rumpsteak_build::configure()
        .protocols("applications/portal.scr")
        .protocols("../protocols/alternating_bit.scr")
        .protocols("../protocols/authentication.scr")
        .protocols("../protocols/chat_listening.scr")
        .protocols("../protocols/chat_moderator.scr")
        .protocols("../protocols/chat_private.scr")
        .protocols("../protocols/chat_speaking.scr")
        .protocols("../protocols/client_server_log.scr")
        .protocols("../protocols/double_buffering.scr")
        .protocols("../protocols/elevator.scr")
        .protocols("../protocols/fastest_mirror.scr")
        .protocols("../protocols/fft.scr")
        .protocols("../protocols/file_transfer.scr")
        .protocols("../protocols/first_answer.scr")
        .protocols("../protocols/hospital.scr")
        .protocols("../protocols/http_continue.scr")
        .protocols("../protocols/jacobi.scr")
        .protocols("../protocols/lock.scr")
        .protocols("../protocols/n_body.scr")
        .protocols("../protocols/pipeline_cancel.scr")
        .protocols("../protocols/raft_timeout.scr")
        .protocols("../protocols/request_timeout.scr")
        .protocols("../protocols/ring.scr")
        .protocols("../protocols/ring_choice.scr")
        .protocols("../protocols/scatter_gather.scr")
        .protocols("../protocols/smtp_reset.scr")
        .protocols("../protocols/streaming.scr")
        .protocols("../protocols/three_adder.scr")
        .protocols("../protocols/two_adder.scr")
        .protocols("../protocols/worker_pool.scr")
        .generate()
        .accept_closed_system("ChatModerator")
        .accept_closed_system("FastestMirror")
        .accept_closed_system("Lock")
        .accept_closed_system("ScatterGather")
        .accept_closed_system("WorkerPool")
        .liveness("Lock", Liveness::Fair)
        // The patient of `eager_hospital` need never read what it is answered.
        .liveness("Hospital::p", Liveness::Fair)
        // Another guest or worker may be served for ever, and nobody need interrupt what goes on.
        .liveness("ChatModerator", Liveness::Fair)
        .liveness("PipelineCancel", Liveness::Fair)
        .liveness("RaftTimeout", Liveness::Fair)
        .liveness("WorkerPool", Liveness::Fair)
        .verify()?;
    Ok(())
}
