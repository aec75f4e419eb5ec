import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { Aedes, type Client, type Subscription } from 'aedes'
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { Log } from '../../lib/log.ts'
import { turnOf } from '../../lib/turns.ts'
import { storeAwayOf } from '../../service/network/database-away.ts'
import type { Services } from '../../service/services.ts'
import { connectionCost, type Share } from '../clients/client-shares.ts'
import type { Client as ClientOfShare, Clients } from '../clients/clients.ts'
import { toRest } from '../errors/errors.ts'
import { bytesOfUnit } from '../graphql/execution/prices.ts'
import { spread } from '../http/drain.ts'
import { connectionRefusal, type Occupancy, occupy, overloadRefusal } from '../limits.ts'
import { type Peer, startHeartbeat } from '../streams/heartbeat.ts'
import { goingAway, pieceLimits, refuseUpgrade } from '../streams/ws.ts'
import { type AuthDeps, callerOf, credentialsOf } from '../tokens/auth.ts'
import { createInterests, type TopicInterests } from './interests.ts'
import { currentState } from './messages.ts'
import { passWholePackets } from './packets.ts'
import { type Publishing, startPublishing } from './publish.ts'
import { parseTopic, rawSuffix } from './topics.ts'

/** Live topics over MQTT 3.1 and 3.1.1 on WebSocket (rest.md 6). Clients may subscribe, but not publish. */

export interface MqttDeps {
  readonly services: Services
  readonly occupancy: Occupancy
  readonly auth: AuthDeps
  readonly clients: Clients
  readonly log: Log
}

export interface MqttTransport {
  /** Accepts or refuses an upgrade request. */
  upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void
  /** Returns the number of open connections. */
  connections(): number
  /** Closes all connections, spread over `windowMs`. */
  close(windowMs: number): Promise<void>
}

/** The path of MQTT over WebSocket. */
export const mqttPath = '/api/mqtt/v2'

/** Maximum number of topics of one client. */
export const maxTopics = 1_000

/** Unsent bytes above which a client is cut. */
const maxUnsentBytes = 8 * 1024 * 1024

/** Received bytes above which a client is cut: clients only connect, subscribe and ping. */
const maxReceivedBytes = 16 * 1024 * 1024

/** Length of a packet above which a client is cut: more than a subscription to all its topics at once has. */
export const maxPacketBytes = 128 * 1024

/** Cost of subscribing to a topic, whose current state is read and sent. */
const topicCost = 10

/** The budgets of clients by the streams of their connections. */
type Shares = WeakMap<object, Share>

/** The topics of clients on which nothing was published since they were subscribed to. */
type UnsentTopics = WeakMap<Client, Set<string>>

/**
 * Unread acknowledgements above which a client is cut: more than a client causes that subscribes to all its topics one by one
 * and unsubscribes from them.
 */
const maxUnreadAcks = 2_500

export async function openMqtt(deps: MqttDeps): Promise<MqttTransport> {
  const { services, occupancy, auth, clients, log } = deps
  const interests = createInterests()
  const shareByStream: Shares = new WeakMap()
  const unsent: UnsentTopics = new WeakMap()
  const broker = await createBroker(deps, shareByStream, unsent)
  const heartbeat = startHeartbeat(occupancy.limits.heartbeatMs)
  const sockets = createSocketServer()
  const publishing = startPublishing({ services, interests, broker, log })
  trackSubscriptions(broker, { services, log, interests, publishing, unsent })

  function upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void {
    const sent = credentialsOf(request.headers)
    const client = clients.of(request, sent, callerOf(auth, sent))
    if (!(client instanceof Promise)) {
      accept(request, { duplex, head, client })
      return
    }
    // The connection may fail while its token is verified.
    duplex.once('error', () => duplex.destroy())
    void client.then((known) => accept(request, { duplex, head, client: known }))
  }

  function accept(request: IncomingMessage, { duplex, head, client }: Upgrade): void {
    const refusal =
      overloadRefusal(occupancy, client) ??
      connectionRefusal(occupancy, client.name) ??
      client.share.take(connectionCost)
    if (refusal !== undefined) {
      refuseUpgrade(duplex, toRest(refusal))
      return
    }
    sockets.handleUpgrade(request, duplex, head, (socket) => {
      occupy(occupancy, client.name, { connections: 1 })
      const forget = heartbeat.add(peerOf(socket))
      socket.once('close', () => {
        occupy(occupancy, client.name, { connections: -1 })
        forget()
      })
      const stream = streamOf(socket, client.share)
      shareByStream.set(stream, client.share)
      broker.handle(stream, request)
    })
  }

  async function close(windowMs: number): Promise<void> {
    await spread([...sockets.clients], windowMs, (socket) => socket.close(goingAway))
    await publishing.stop()
    heartbeat.stop()
    await new Promise<void>((resolve) => broker.close(resolve))
    for (const socket of sockets.clients) socket.terminate()
    await new Promise<void>((resolve) => sockets.close(() => resolve()))
  }

  return { upgrade, connections: () => sockets.clients.size, close }
}

function createSocketServer(): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    maxPayload: maxPacketBytes,
    ...pieceLimits,
    // One read may contain hundreds of messages; requests of other clients get their turns in between.
    allowSynchronousEvents: false,
    handleProtocols: (offered) =>
      ['mqtt', 'mqttv3.1'].find((protocol) => offered.has(protocol)) ?? false,
  })
}

/** Creates a heartbeat peer, whatever keep-alive the client chose: MQTT allows none at all, or one of 18 hours. */
function peerOf(socket: WebSocket): Peer {
  const peer = {
    isSilent: false,
    isBusy: () => socket.isPaused || socket.bufferedAmount > 0,
    ping: () => socket.ping(),
    cut: () => socket.terminate(),
  }
  const live = () => {
    peer.isSilent = false
  }
  socket.on('message', live)
  socket.on('pong', live)
  return peer
}

interface Upgrade {
  readonly duplex: Duplex
  readonly head: Buffer
  readonly client: ClientOfShare
}

/** Creates the byte stream of a socket. Writes do not wait for a slow client; its unsent data is buffered up to the limit. */
function streamOf(socket: WebSocket, share: Share): Duplex {
  const stream = createWebSocketStream(socket, { writableHighWaterMark: maxUnsentBytes })
  passWholePackets(stream, { maxBytes: maxPacketBytes, turn: () => turnOf(share.client) })
  let received = 0
  socket.on('message', (bytes: Buffer) => {
    received += bytes.length
    share.charge(1 + bytes.length / bytesOfUnit)
    if (received > maxReceivedBytes) stream.destroy()
  })
  return stream
}

async function createBroker(deps: MqttDeps, shares: Shares, unsent: UnsentTopics): Promise<Aedes> {
  const admission = createAdmission(shares)
  const takeOver = createTakeover()
  const broker = await Aedes.createBroker({
    preConnect: (client, packet, done) => {
      if (packet.protocolVersion === 5) return refuseVersion5(client, () => done(null, false))
      // The broker stores no sessions of disconnected clients, and no wills.
      Object.assign(packet, { clean: true, will: undefined })
      // The broker refuses an id that is too long for MQTT 3.1.
      if (packet.protocolVersion !== 3 || packet.clientId.length <= 23) {
        takeOver(client, packet.clientId)
        // Makes the broker create an id. With the client's own, it would hold a connection forever that begins or ends while another one
        // takes over its id.
        Object.assign(packet, { clientId: '' })
      }
      done(null, true)
    },
    authorizePublish: (_client, _packet, done) => done(new Error('publishing is not allowed')),
    authorizeSubscribe: async (client, subscription, done) => {
      const isAllowed = await admission.admit(client, subscription)
      done(null, isAllowed ? subscription : null)
    },
    authorizeForward: (client, packet) => {
      const { conn } = client
      // The state that is being read may be older than this message.
      unsent.get(client)?.delete(packet.topic)
      shares.get(conn)?.charge(1 + packet.payload.length / bytesOfUnit)
      if (conn.writableLength <= maxUnsentBytes) return packet
      conn.destroy()
      return null
    },
  })
  limitUnreadAcks(broker)
  broker.on('unsubscribe', (topics, client) => admission.release(client, topics))
  // The library cuts a client that violates the protocol.
  broker.on('clientError', (_client, error) => deps.log.debug('mqtt-client', { error }))
  broker.on('connectionError', (_client, error) => deps.log.debug('mqtt-client', { error }))
  return broker
}

/** Creates a function that closes the former connection of the id of a new client (MQTT 3.1.1, 3.1.4). */
function createTakeover(): (client: Client, id: string) => void {
  const clientById = new Map<string, Client>()
  return (client, id) => {
    if (id === '') return
    clientById.get(id)?.close()
    clientById.set(id, client)
    client.conn.once('close', () => {
      if (clientById.get(id) === client) clientById.delete(id)
    })
  }
}

/** Limits the subscriptions of each client by its budget and by the number of its topics. */
function createAdmission(shares: Shares) {
  const allowed = new WeakMap<Client, Set<string>>()
  return {
    admit: async (client: Client, subscription: Subscription): Promise<boolean> => {
      const share = shares.get(client.conn)
      // The library handles the next packet of a client only after the callback of this one.
      await turnOf(share?.client ?? '')
      const isRefused = share?.take(topicCost) !== undefined
      const topics = getOrInsert(allowed, client, () => new Set())
      const isAllowed = !isRefused && mayAdd(topics, subscription)
      if (isAllowed) topics.add(subscription.topic)
      return isAllowed
    },
    release: (client: Client, topics: Iterable<string>): void => {
      for (const topic of topics) allowed.get(client)?.delete(topic)
    },
  }
}

interface TrackingDeps extends Pick<MqttDeps, 'services' | 'log'> {
  readonly interests: TopicInterests
  readonly publishing: Pick<Publishing, 'begin'>
  readonly unsent: UnsentTopics
}

/** Counts the subscriptions of connected clients in `interests`, and sends the current state of each new topic. */
function trackSubscriptions(broker: Aedes, deps: TrackingDeps): void {
  const { log, interests, unsent } = deps
  const topicsByClient = new Map<Client, Set<string>>()
  const remove = (client: Client, topics: Iterable<string>) => {
    for (const topic of topics) {
      unsent.get(client)?.delete(topic)
      if (topicsByClient.get(client)?.delete(topic)) interests.remove(topic)
    }
  }
  broker.on('subscribe', (subscriptions, client) => {
    // The library reports refused topics also after it has reported that the client disconnected.
    if (client.closed) return
    const topics = getOrInsert(topicsByClient, client, () => new Set())
    const unsentTopics = getOrInsert(unsent, client, () => new Set())
    for (const { topic, qos } of subscriptions) {
      if ((qos as number) === refused) continue
      if (!topics.has(topic)) interests.add(topic)
      topics.add(topic)
      unsentTopics.add(topic)
      void sendCurrentState(deps, client, topic).catch((error: unknown) => {
        if (!storeAwayOf(error)) log.error('mqtt-failed', { topic, error })
        // The client would wait for a state that is never sent. It subscribes again when it reconnects.
        client.close()
      })
    }
  })
  broker.on('unsubscribe', (topics, client) => remove(client, topics))
  broker.on('clientDisconnect', (client) => {
    remove(client, topicsByClient.get(client) ?? [])
    topicsByClient.delete(client)
  })
}

/** Cuts a client that sends packets without reading the acknowledgements, which are too small for the limit in bytes. */
function limitUnreadAcks(broker: Aedes): void {
  const unread = new WeakMap<Client, number>()
  const acknowledge = (client: Client) => {
    const { conn } = client
    const count = conn.writableLength === 0 ? 0 : (unread.get(client) ?? 0) + 1
    unread.set(client, count)
    if (count > maxUnreadAcks) conn.destroy()
  }
  broker.on('ping', (_packet, client) => acknowledge(client))
  broker.on('subscribe', (_subscriptions, client) => acknowledge(client))
  broker.on('unsubscribe', (_topics, client) => acknowledge(client))
}

/** The return code of a refused subscription (MQTT 3.1.1, 3.9.3). */
const refused = 128

/** Refuses a connection in the format of MQTT 5; the library would use the format of 3.1.1. */
function refuseVersion5({ conn }: Client, done: () => void): void {
  conn.end(Uint8Array.of(0x20, 3, 0, unsupportedVersion, 0), done)
}

/** The reason code "Unsupported Protocol Version" (MQTT 5, 3.2.2.2). */
const unsupportedVersion = 0x84

function mayAdd(topics: ReadonlySet<string>, { topic }: Subscription): boolean {
  return topics.has(topic) || (topics.size < maxTopics && parseTopic(topic) !== undefined)
}

/** Publishes the current state of a block, transaction or output to a new subscriber, unless a later one was published meanwhile. */
async function sendCurrentState(
  { services, publishing, unsent }: TrackingDeps,
  client: Client,
  text: string,
): Promise<void> {
  const topic = parseTopic(text)
  if (topic === undefined) return
  // A change before the first read is in the state, and a change after it is an event.
  await publishing.begin(topic)
  const state = await currentState(services, topic)
  if (state === undefined || client.closed || !unsent.get(client)?.has(text)) return
  const payload = text.endsWith(rawSuffix) ? Buffer.from(state.bytes()) : state.json()
  const packet = {
    cmd: 'publish',
    topic: text,
    payload,
    qos: 0,
    retain: false,
    dup: false,
  } as const
  // The library requires a callback.
  client.publish(packet, () => {})
  // The library has reported this packet as a message, but a repeated subscription still waits for its own.
  unsent.get(client)?.add(text)
}
