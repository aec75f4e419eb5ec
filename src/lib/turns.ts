import { setImmediate as inNextPhase } from 'node:timers/promises'
import { createFifo, type Fifo } from './fifo.ts'

/** Divides long work into pieces, between which the event loop serves others and the lease is renewed. */
export interface Turns {
  /** Lets the event loop turn, if the work has held it for long enough; to be awaited every millisecond or so. */
  pass(): Promise<void>
}

/** Begins a piece of work that holds the event loop for at most `holdMs` in a row. */
export function createTurns(holdMs = usualHoldMs): Turns {
  let begun = performance.now()

  async function pass(): Promise<void> {
    if (performance.now() - begun < holdMs) return
    await inNextPhase()
    begun = performance.now()
  }

  return { pass }
}

/**
 * A quarter of the longest time for which the loop is held: a phase of it may have two such turns, either goes on until it asks the
 * next time, and the collector of V8 comes in between.
 */
const usualHoldMs = 5

/*
 * What clients ask for takes turns on the one event loop, by start-time fair queueing (Goyal, Vin and Cheng, 1996): the next turn
 * is that of the client that has held the loop for the least time since the loop was last idle. So a client that asks for much waits
 * behind those that ask for little, and uses what they leave.
 */

/** A client that waits, or has lately had a turn. */
interface Flow {
  /** What was begun and has passed its turn on goes first: it holds memory. */
  readonly begun: Fifo<() => void>
  readonly fresh: Fifo<() => void>
  /** For how many milliseconds it has held the loop, counted from where all others were when it came. */
  servedMs: number
  /** How long its last turn was. */
  lastMs: number
}

const newFlow = (): Flow => ({ begun: createFifo(), fresh: createFifo(), servedMs: 0, lastMs: 0 })

const flows = new Map<string, Flow>()

/** What no client has asked for; its time counts less than that of a client. */
const ownFlow = newFlow()
const ownWeight = 8

/** The flows that wait. Few of them do at a time, so the one that is next is looked for among all. */
const waiting = new Set<Flow>()

/** Flows that are remembered while the loop is busy. */
const mostFlows = 65_536

let turnsWanted = 0
/** Where the flow was that had a turn last: one that comes begins there. */
let servedMs = 0
let mostServedMs = 0

let running: Flow | undefined
/** When the present turn began, or when it was first asked. */
let began: number | undefined

/** Resolves when it is the turn of a client, at the next turn of the loop at the earliest. */
export function turnOf(client: string): Promise<void> {
  const flow = flowOf(client)
  return new Promise((resolve) => join(flow, flow.fresh, resolve))
}

function flowOf(client: string): Flow {
  const flow = flows.get(client) ?? newFlow()
  flows.set(client, flow)
  return flow
}

/** How many turns a client waits for. */
export function turnsAwaited(client: string): number {
  const flow = flows.get(client)
  return flow === undefined ? 0 : flow.begun.length + flow.fresh.length
}

/**
 * Passes the turn on, and resolves when it is the same client's again. What has waited for the database or a worker has no turn to
 * pass on: it waits for one of the client that is named, or else as the gateway's own work.
 */
export function nextTurn(client?: string): Promise<void> {
  const flow = running ?? (client === undefined ? ownFlow : flowOf(client))
  return new Promise((resolve) => join(flow, flow.begun, resolve))
}

/**
 * Resolves when the present turn has nothing left to do but what waits for this, so that its reads are made together; where there is
 * no turn, or parts of it go on in later ones, when it is the turn of this client again.
 */
export async function restOfTurn(client: string): Promise<void> {
  if (running !== undefined) {
    await Promise.resolve()
    // From within a promise job, for the tick comes after all of them.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    if (running?.begun.length === 0) return
  }
  await nextTurn(client)
}

/** Whether the turn has gone on for long enough: many parts of an answer ask, whichever of them took the time. */
export function isTurnOver(): boolean {
  const now = performance.now()
  if (began === undefined) {
    began = now
    void nextTurn()
  }
  return now - began > usualHoldMs
}

/** Goes on in a later turn, if this one is over; work that is one step of many asks before each of its pieces. */
export async function passTurn(): Promise<void> {
  if (isTurnOver()) await nextTurn()
}

/** Makes a list of another one, and goes on in a later turn now and then. */
export async function mapInTurns<T, U>(list: readonly T[], make: (one: T) => U): Promise<U[]> {
  const made: U[] = []
  for (const one of list) {
    made.push(make(one))
    if (made.length % madePerTurn === 0) await passTurn()
  }
  return made
}

/** Work that pauses now and then, for it may be long. */
export type Steps<T> = Generator<undefined, T, undefined>

/** Does all of it in a row. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Goes on in a later turn now and then. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    await passTurn()
  }
}

/** Each of a list, with a pause now and then. */
export function* paused<T>(list: Iterable<T>, work: (one: T) => void): Steps<void> {
  let done = 0
  for (const one of list) {
    work(one)
    if (++done % madePerTurn === 0) yield undefined
  }
}

/** Does something with each of a list, and goes on in a later turn now and then. */
export async function eachInTurns<T>(list: Iterable<T>, work: (one: T) => void): Promise<void> {
  await inTurns(paused(list, work))
}

/** So many take a millisecond or two. */
const madePerTurn = 256

function join(flow: Flow, queue: Fifo<() => void>, resolve: () => void): void {
  queue.push(resolve)
  turnsWanted++
  if (!waiting.has(flow)) {
    flow.servedMs = Math.max(flow.servedMs, servedMs)
    waiting.add(flow)
  }
  planSteps()
}

/*
 * Every turn is an immediate of its own, for the promises that wait for it go on before the next one: so its length is
 * known. One more step ends the last. What comes while the steps of a phase run has its turn in the next, after the loop has
 * looked for new requests.
 */

let stepsLeft = 0
let stepsPlanned = 0
let phaseBegan = 0

const mostSteps = 256

/*
 * The system hands over one connection each time the loop looks for new ones (libuv accepts no more at once). Long turns in between
 * would keep hundreds waiting, of whatever client, behind those of one that opens many. As long as connections come, two thirds of the
 * time are for them alone.
 */

let connectionsCome = 0
let lookingSince: number | undefined

/** Has the loop look for another connection before the next turn, as one has come. */
export function lookForConnections(): void {
  const came = ++connectionsCome
  lookingSince ??= performance.now()
  const end = () => {
    if (came === connectionsCome) lookingSince = undefined
  }
  // What is planned from within an immediate runs after the loop has looked once more.
  setImmediate(() => setImmediate(end))
}

/** Whether the time is for connections: nothing else is begun that can wait. */
export function isForConnections(now = performance.now()): boolean {
  if (lookingSince === undefined) return false
  return (now - lookingSince) % (3 * usualHoldMs) < 2 * usualHoldMs
}

function planSteps(): void {
  while (stepsPlanned < Math.min(turnsWanted + 1, mostSteps)) {
    stepsPlanned++
    setImmediate(step)
  }
}

function step(): void {
  const now = performance.now()
  if (stepsLeft === 0) {
    stepsLeft = stepsPlanned
    stepsPlanned = 0
    // Where connections are looked for, the time for turns is over from the start.
    phaseBegan = isForConnections(now) ? -Infinity : now
  }
  stepsLeft--
  endTurn(now)
  const hasTurn = turnsWanted > 0 && stepsLeft > 0 && now - phaseBegan < usualHoldMs
  const next = hasTurn ? leastServed() : undefined
  if (held.length > 0 && !mayHold(now, next)) runHeld()
  if (next !== undefined) beginTurn(now, next)
  else if (turnsWanted > 0 && stepsLeft === 0) planSteps()
}

/*
 * Writing to a socket whose reader sleeps takes some 100 microseconds where it must be woken, and 20 where it is awake. Answers
 * that leave one after the other wake it once.
 */

let held: (() => void)[] = []
let heldSince = 0

/** The longest time for which an answer is held, and the longest turn that is expected to end in it. */
const mostHeldMs = 1

/** Does something that must not throw after the turns of this phase of the loop, or of the next where there is no turn now. */
export function afterTurns(work: () => void): void {
  if (held.length === 0) heldSince = performance.now()
  held.push(work)
  // A turn has a step behind it.
  if (running === undefined) planSteps()
}

function mayHold(now: number, next: Flow | undefined): boolean {
  return next !== undefined && next.lastMs < mostHeldMs && now - heldSince < mostHeldMs
}

function runHeld(): void {
  const all = held
  held = []
  for (const work of all) work()
}

function beginTurn(now: number, flow: Flow): void {
  const resolve = flow.begun.shift() ?? flow.fresh.shift()
  if (flow.begun.length + flow.fresh.length === 0) waiting.delete(flow)
  turnsWanted--
  servedMs = flow.servedMs
  running = flow
  began = now
  resolve?.()
}

function leastServed(): Flow {
  let least: Flow | undefined
  for (const flow of waiting) {
    if (least === undefined || flow.servedMs < least.servedMs) least = flow
  }
  return least ?? ownFlow
}

function endTurn(now: number): void {
  if (running !== undefined) {
    running.lastMs = now - (began ?? now)
    running.servedMs += running.lastMs / (running === ownFlow ? ownWeight : 1)
    mostServedMs = Math.max(mostServedMs, running.servedMs)
  }
  running = undefined
  began = undefined
  if (turnsWanted === 0) {
    servedMs = mostServedMs
    flows.clear()
  } else if (flows.size > mostFlows) {
    for (const [client, flow] of flows) if (!waiting.has(flow)) flows.delete(client)
  }
}
