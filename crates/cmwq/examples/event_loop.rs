//! A server with one event loop: epoll waits for sockets and for a completion ring; the work itself runs on a queue.
//!
//! Clients send numbers, the queue finds their largest prime factors, the loop sends them back. It takes results in
//! batches: of eight, or of what is there when a millisecond has passed. Serves its own clients on the loopback device,
//! checks what they get, prints how many batches there were, and ends:
//! `cargo run --release -p cmwq --example event_loop`.

#![forbid(unsafe_code)]

use cmwq::Engine;
use cmwq::completion::{Capacity, Receiver, ring};
use rustix::event::{Timespec, epoll};
use std::collections::HashMap;
use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::thread;

const CLIENTS: u64 = 4;
const REQUESTS: u64 = 500;
/// Requests that a client has on their way.
const AT_ONCE: usize = 20;
const BATCH: u32 = 8;
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// What epoll calls the listener and the ring; connections have their numbers.
const LISTENER: u64 = u64::MAX;
const RING: u64 = u64::MAX - 1;

type Results = Receiver<Result<(u64, u64), cmwq::JoinError>>;

fn largest_prime_factor(mut number: u64) -> u64 {
    let (mut divisor, mut largest) = (2, 1);
    while divisor * divisor <= number {
        if number.is_multiple_of(divisor) {
            (number, largest) = (number / divisor, divisor);
        } else {
            divisor += 1;
        }
    }
    largest.max(number)
}

fn number(client: u64, request: u64) -> u64 {
    1_000_003 * (client + 1) + 7919 * request
}

/// Sends a few requests at a time, then reads as many answers; they come in any order.
fn client(address: std::net::SocketAddr, client: u64) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    let mut sum = 0;
    for first in (0..REQUESTS).step_by(AT_ONCE) {
        let requests = (first..REQUESTS).take(AT_ONCE);
        for request in requests.clone() {
            stream.write_all(&number(client, request).to_le_bytes())?;
        }
        for _ in requests {
            let mut answer = [0; 8];
            stream.read_exact(&mut answer)?;
            sum += u64::from_le_bytes(answer);
        }
    }
    let expected: u64 = (0..REQUESTS).map(|request| largest_prime_factor(number(client, request))).sum();
    assert_eq!(sum, expected, "client {client} has its answers");
    Ok(())
}

/// One of the server's connections.
struct Connection {
    stream: TcpStream,
    /// The beginning of a number.
    rest: Vec<u8>,
}

impl Connection {
    /// The numbers that have arrived whole; `None` at the end of the stream.
    fn requests(&mut self) -> std::io::Result<Option<Vec<u64>>> {
        let mut buffer = [0; 4096];
        match self.stream.read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(bytes) => self.rest.extend(&buffer[..bytes]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        let whole = self.rest.len() / 8 * 8;
        let numbers = self.rest.drain(..whole).collect::<Vec<_>>();
        let numbers = numbers.chunks_exact(8).map(|n| u64::from_le_bytes(n.try_into().expect("eight bytes")));
        Ok(Some(numbers.collect()))
    }
}

fn watch(epoll: &OwnedFd, what: impl std::os::fd::AsFd, name: u64) -> rustix::io::Result<()> {
    epoll::add(epoll, what, epoll::EventData::new_u64(name), epoll::EventFlags::IN)
}

/// Waits for sockets, and for a batch of results or the end of the patience. Answers which sockets are ready.
fn wait(epoll: &OwnedFd, results: &mut Results, in_flight: u64) -> rustix::io::Result<Vec<u64>> {
    let need = in_flight.clamp(1, BATCH.into()) as u32;
    let patience = (in_flight > 0).then_some(&PATIENCE);
    let nothing_to_wait_for = Timespec { tv_sec: 0, tv_nsec: 0 };
    // With results there the sockets are looked at all the same, and nobody sleeps.
    let armed = results.arm(need).is_none();
    let mut events = Vec::with_capacity(64);
    let until = if armed { patience } else { Some(&nothing_to_wait_for) };
    epoll::wait(epoll, rustix::buffer::spare_capacity(&mut events), until)?;
    if armed {
        results.disarm();
    }
    Ok(events.iter().map(|event| event.data.u64()).filter(|&name| name != RING).collect())
}

fn serve(listener: &TcpListener) -> Result<(), Box<dyn Error>> {
    let queue = Engine::new()?.queue("factors").build()?;
    let (ring, mut results) = ring(Capacity::Growing(256))?;
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    watch(&epoll, listener, LISTENER)?;
    watch(&epoll, &results, RING)?;
    let mut connections = HashMap::new();
    let (mut accepted, mut in_flight, mut answered, mut batches) = (0, 0, 0, 0);
    while answered < CLIENTS * REQUESTS {
        for name in wait(&epoll, &mut results, in_flight)? {
            if name == LISTENER {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                watch(&epoll, &stream, accepted)?;
                connections.insert(accepted, Connection { stream, rest: Vec::new() });
                accepted += 1;
                continue;
            }
            let connection: &mut Connection = connections.get_mut(&name).expect("it is open");
            for number in connection.requests()?.unwrap_or_default() {
                queue.spawn_into(&ring, move || (name, largest_prime_factor(number)))?;
                in_flight += 1;
            }
        }
        let before = answered;
        for result in results.by_ref() {
            let (name, factor) = result?;
            let connection = connections.get_mut(&name).expect("it is open until it has its answers");
            connection.stream.write_all(&factor.to_le_bytes())?;
            (in_flight, answered) = (in_flight - 1, answered + 1);
        }
        batches += u64::from(answered > before);
    }
    println!("{answered} results in {batches} batches");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let clients: Vec<_> = (0..CLIENTS).map(|n| thread::spawn(move || client(address, n))).collect();
    serve(&listener)?;
    for client in clients {
        client.join().expect("a client's check holds")?;
    }
    Ok(())
}
