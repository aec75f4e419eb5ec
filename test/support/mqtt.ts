import { EventEmitter, once } from 'node:events'
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt'

/** A published client of MQTT over WebSocket, and the messages it has heard. */
export interface Listener {
  readonly client: MqttClient
  /** Asks for a topic; the quality of service it was granted, 128 where it was refused. */
  listen(topic: string): Promise<number>
  /** The next message on a topic that was not taken yet; its payload. */
  next(topic: string): Promise<Buffer>
  close(): Promise<void>
}

/** Connects to a gateway; not again by itself. */
export async function openListener(url: string, options: IClientOptions = {}): Promise<Listener> {
  const client = mqtt.connect(`${url.replace(/^http/, 'ws')}/api/mqtt/v2`, {
    reconnectPeriod: 0,
    protocolVersion: 4,
    ...options,
  })
  const told = new EventEmitter()
  const heard = new Map<string, Buffer[]>()
  client.on('message', (topic, payload) => {
    heard.set(topic, [...(heard.get(topic) ?? []), payload])
    told.emit(topic)
  })
  await event(client, 'connect')

  async function next(topic: string): Promise<Buffer> {
    for (;;) {
      const payload = heard.get(topic)?.shift()
      if (payload !== undefined) return payload
      await once(told, topic)
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

/** The next event of a client; what it comes with. */
// biome-ignore lint/suspicious/noExplicitAny: every event comes with something else
export function event(client: MqttClient, name: string): Promise<any[]> {
  return new Promise((resolve) => client.once(name as 'close', (...told: []) => resolve(told)))
}
