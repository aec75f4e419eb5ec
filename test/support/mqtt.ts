import { EventEmitter, once } from 'node:events'
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt'

/** The public npm client of MQTT over WebSocket, with the messages that it received. */
export interface Listener {
  readonly client: MqttClient
  /** Subscribes to a topic, and returns the granted quality of service, or 128 if the gateway refused the topic. */
  listen(topic: string): Promise<number>
  /** Returns the payload of the next message on a topic that no former call has returned. */
  next(topic: string): Promise<Buffer>
  close(): Promise<void>
}

/** Connects to a gateway; the client does not reconnect. */
export async function openListener(url: string, options: IClientOptions = {}): Promise<Listener> {
  const client = mqtt.connect(`${url.replace(/^http/, 'ws')}/api/mqtt/v2`, {
    reconnectPeriod: 0,
    protocolVersion: 4,
    ...options,
  })
  const arrivals = new EventEmitter()
  const payloadsByTopic = new Map<string, Buffer[]>()
  client.on('message', (topic, payload) => {
    payloadsByTopic.set(topic, [...(payloadsByTopic.get(topic) ?? []), payload])
    arrivals.emit(topic)
  })
  await event(client, 'connect')

  async function next(topic: string): Promise<Buffer> {
    for (;;) {
      const payload = payloadsByTopic.get(topic)?.shift()
      if (payload !== undefined) return payload
      await once(arrivals, topic)
    }
  }

  async function listen(topic: string): Promise<number> {
    const granted = await new Promise<number>((resolve) => {
      client.once('packetreceive', function ack(packet) {
        if (packet.cmd === 'suback') resolve(Number(packet.granted[0]))
        else client.once('packetreceive', ack)
      })
      client.subscribe(topic, () => {})
    })
    return granted
  }

  return { client, listen, next, close: () => client.endAsync(true) }
}

/** Waits for the next event of a client, and returns its arguments. */
// biome-ignore lint/suspicious/noExplicitAny: every event has other arguments
export function event(client: MqttClient, name: string): Promise<any[]> {
  return new Promise((resolve) => client.once(name as 'close', (...args: []) => resolve(args)))
}
