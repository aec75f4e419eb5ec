import { setImmediate as inNextPhase } from 'node:timers/promises'
import { createFifo, type Fifo } from './fifo.ts'
import { getOrInsert } from './get-or-insert.ts'
import { createHeap } from './heap.ts'

/** Divides long work into pieces. Between two pieces the event loop serves other requests and renews the lease. */
export interface Turns {
  /** Yields to the event loop if the work has held it for long enough. Await it about every millisecond. */
  pass(): Promise<void>
}

/** Begins work that holds the event loop for at most `holdMs` milliseconds in a row. */
export function createTurns(holdMs = defaultHoldMs): Turns {
  let begun = performance.now()

  async function pass(): Promise<void> {
    if (performance.now() - begun < holdMs) return
    await inNextPhase()
    begun = performance.now()
  }

  return { pass }
}

/**
 * Milliseconds after which a turn yields. This is a quarter of the longest time for which the event loop is blocked: one phase may have two
 * turns, each turn continues until its next check, and garbage collection adds to both. A request needs up to three phases, so that it
 * waits for six turns of others.
 */
const defaultHoldMs = 2

/*
 * The requests of all clients share one event loop by start-time fair queueing (Goyal, Vin and Cheng, 1996): the next turn belongs to
 * the client that has used the loop for the least time since the loop was last idle. A client with many requests therefore waits behind
 * clients with few requests, and uses the time that they leave.
 */

/** A client that waits for a turn, or recently had one. */
interface Flow {
  /** Requests that have started and yielded. They go first, because they hold memory. */
  readonly begun: Fifo<() => void>
  /** Requests that have not started. */
  readonly fresh: Fifo<() => void>
  /** Parts of work in `begun`; the others in it wait for the rest of a turn. */
  parts: number
  /** Milliseconds for which the client has used the loop. A new client starts at the value of the flow that is served. */
  servedMs: number
  /** Milliseconds of its last turn. */
  lastMs: number
  /** Whether the flow waits for a turn. The flow that has a turn waits again after it. */
  isWaiting: boolean
  /** Number of the first request since the flow last had none: of flows that are equally served, the first has the next turn. */
  arrived: number
}

const newFlow = (): Flow => ({
  begun: createFifo(),
  fresh: createFifo(),
  parts: 0,
  servedMs: 0,
  lastMs: 0,
  isWaiting: false,
  arrived: 0,
})

const flows = new Map<string, Flow>()

/** The gateway's own work. Its time counts an eighth of the time of a client. */
const ownFlow = newFlow()
const ownWeight = 8

/** Flows that wait for a turn, the least served first. There may be ten thousand of them. */
const waiting = createHeap<Flow>((a, b) =>
  a.servedMs === b.servedMs ? a.arrived < b.arrived : a.servedMs < b.servedMs,
)

/** Flows that are remembered while the loop is busy. */
const maxFlows = 65_536

let turnsWanted = 0
let arrivals = 0
/** `servedMs` of the flow that had the last turn. A new flow starts at this value. */
let servedMs = 0
let maxServedMs = 0

let running: Flow | undefined
/** Time at which the current turn began. Outside of a turn, time of the first check. */
let began: number | undefined

/** Resolves when a turn of the client begins, in the next iteration of the event loop at the earliest. */
export function turnOf(client: string): Promise<void> {
  const flow = flowOf(client)
  return new Promise((resolve) => join(flow, flow.fresh, resolve))
}

function flowOf(client: string): Flow {
  return getOrInsert(flows, client, newFlow)
}

export function turnsAwaited(client: string): number {
  const flow = flows.get(client)
  return flow === undefined ? 0 : flow.begun.length + flow.fresh.length
}

/**
 * Yields the turn, and resolves when the next turn of the same client begins. Work that has waited for the database or a worker has no
 * turn to yield. It waits for a turn of `client`, or by default for one of the gateway's own work.
 */
export function nextTurn(client?: string): Promise<void> {
  const flow = running ?? (client === undefined ? ownFlow : flowOf(client))
  flow.parts++
  return new Promise((resolve) => {
    join(flow, flow.begun, () => {
      flow.parts--
      resolve()
    })
  })
}

/**
 * Resolves when everything else in the current turn has been done, so that the callers of this function can combine their reads. If there
 * is no turn, or parts of it continue in later turns, resolves in a turn of this client after them.
 */
export async function restOfTurn(client: string): Promise<void> {
  if (running !== undefined) {
    await Promise.resolve()
    // Called in a promise job, because the tick runs after all promise jobs.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    if (running?.begun.length === 0) return
  }
  const flow = running ?? flowOf(client)
  for (let turns = 0; turns < maxRestTurns; turns++) {
    await new Promise<void>((resolve) => join(flow, flow.begun, resolve))
    if (flow.parts === 0) return
  }
}

/** Turns after which the rest does not wait any longer: another request of the client may have parts without end. */
const maxRestTurns = 16

/** Whether the current turn is over. All parts of a response share its time. */
export function isTurnOver(): boolean {
  const now = performance.now()
  if (began === undefined) {
    began = now
    void nextTurn()
  }
  return now - began > defaultHoldMs
}

/** Yields if the current turn is over. Long work calls this before each of its pieces. `client` is that of `nextTurn`. */
export async function passTurn(client?: string): Promise<void> {
  if (isTurnOver()) await nextTurn(client)
}

/** Maps a list, and yields at intervals. */
export async function mapInTurns<T, U>(list: readonly T[], make: (one: T) => U): Promise<U[]> {
  const made: U[] = []
  for (const one of list) {
    made.push(make(one))
    if (made.length % madePerTurn === 0) await passTurn()
  }
  return made
}

/** Work that yields at intervals, because it may be long. */
export type Steps<T> = Generator<undefined, T, undefined>

/** Runs all steps without a pause. */
export function runToCompletion<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Runs all steps, and continues in a later turn whenever the current one is over. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    await passTurn()
  }
}

/** Calls `work` for each item of a list, and yields at intervals. */
export function* paused<T>(list: Iterable<T>, work: (one: T) => void): Steps<void> {
  let done = 0
  for (const one of list) {
    work(one)
    if (++done % madePerTurn === 0) yield undefined
  }
}

/** Calls `work` for each item of a list, and continues in a later turn whenever the current one is over. */
export async function eachInTurns<T>(list: Iterable<T>, work: (one: T) => void): Promise<void> {
  await inTurns(paused(list, work))
}

/** Items between two checks of the turn. They take about a millisecond. */
const madePerTurn = 128

function join(flow: Flow, queue: Fifo<() => void>, resolve: () => void): void {
  if (flow.begun.length + flow.fresh.length === 0) flow.arrived = ++arrivals
  queue.push(resolve)
  turnsWanted++
  if (flow !== running) wait(flow)
  planSteps()
}

function wait(flow: Flow): void {
  if (flow.isWaiting) return
  flow.isWaiting = true
  flow.servedMs = Math.max(flow.servedMs, servedMs)
  waiting.add(flow)
}

/*
 * Each turn is a separate immediate. The promises that wait for the turn run before the next immediate, so the length of the turn is
 * known. One extra step ends the last turn. Requests that arrive while the steps of a phase run get their turns in the next phase,
 * after the loop has polled for new requests.
 */

let stepsLeft = 0
let stepsPlanned = 0
let phaseBegan = 0

const maxSteps = 256

/*
 * The system hands over one connection per poll of the event loop (libuv accepts one at a time). Long turns between the polls would make
 * hundreds of connections of other clients wait behind those of a client that opens many. As long as connections arrive, two thirds of
 * the time are reserved for accepting them.
 */

let connectionsAccepted = 0
let acceptingSince: number | undefined

/** Makes the loop poll for another connection before the next turn. Call it when a connection has arrived. */
export function lookForConnections(): void {
  const accepted = ++connectionsAccepted
  acceptingSince ??= performance.now()
  const end = () => {
    if (accepted === connectionsAccepted) acceptingSince = undefined
  }
  // An immediate that is scheduled within an immediate runs after the next poll.
  setImmediate(() => setImmediate(end))
}

/** Whether the current time is reserved for accepting connections, so that no work begins that can wait. */
export function isForConnections(now = performance.now()): boolean {
  if (acceptingSince === undefined) return false
  return (now - acceptingSince) % (3 * defaultHoldMs) < 2 * defaultHoldMs
}

function planSteps(): void {
  while (stepsPlanned < Math.min(turnsWanted + 1, maxSteps)) {
    stepsPlanned++
    setImmediate(step)
  }
}

function step(): void {
  const now = performance.now()
  if (stepsLeft === 0) {
    stepsLeft = stepsPlanned
    stepsPlanned = 0
    // While connections are accepted, this phase has no time for turns.
    phaseBegan = isForConnections(now) ? -Infinity : now
  }
  stepsLeft--
  endTurn(now)
  const hasTurn = turnsWanted > 0 && stepsLeft > 0 && now - phaseBegan < defaultHoldMs
  const next = hasTurn ? waiting.first() : undefined
  if (held.length > 0 && !mayHold(now, next)) runHeld()
  if (next !== undefined) beginTurn(now, next)
  else if (turnsWanted > 0 && stepsLeft === 0) planSteps()
}

/*
 * A write to a socket takes some 100 microseconds if its reader has to be woken, and 20 if the reader is awake. Responses that are sent
 * directly after each other wake the reader once.
 */

let held: (() => void)[] = []
let heldSince = 0

/** Longest time in milliseconds for which a response is held. It is sent at once if the last turn of the next client was longer. */
const maxHeldMs = 1

/** Runs `work`, which must not throw, after the turns of this phase of the loop. Outside of a turn, runs it after the next phase. */
export function afterTurns(work: () => void): void {
  if (held.length === 0) heldSince = performance.now()
  held.push(work)
  // During a turn, a later step is already planned.
  if (running === undefined) planSteps()
}

function mayHold(now: number, next: Flow | undefined): boolean {
  return next !== undefined && next.lastMs < maxHeldMs && now - heldSince < maxHeldMs
}

function runHeld(): void {
  const all = held
  held = []
  for (const work of all) work()
}

function beginTurn(now: number, flow: Flow): void {
  const resolve = flow.begun.shift() ?? flow.fresh.shift()
  waiting.shift()
  flow.isWaiting = false
  turnsWanted--
  servedMs = flow.servedMs
  running = flow
  began = now
  resolve?.()
}

function endTurn(now: number): void {
  if (running !== undefined) {
    running.lastMs = now - (began ?? now)
    running.servedMs += running.lastMs / (running === ownFlow ? ownWeight : 1)
    maxServedMs = Math.max(maxServedMs, running.servedMs)
    if (running.begun.length + running.fresh.length > 0) wait(running)
  }
  running = undefined
  began = undefined
  if (turnsWanted === 0) {
    servedMs = maxServedMs
    flows.clear()
  } else if (flows.size > maxFlows) {
    for (const [client, flow] of flows) if (!flow.isWaiting) flows.delete(client)
  }
}
