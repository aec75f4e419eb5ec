import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The arguments of every peer: the URL of the database, and the start of slot 1 in Unix seconds. It sends its port to the parent. */
const [databaseUrl = '', beganText = ''] = process.argv.slice(2)

export { databaseUrl }

/** The path of a SQLite file; `undefined` for PostgreSQL. */
export const databaseFile = /^file:(.+)$/.exec(databaseUrl)?.[1]

/** The end of a milestone in Unix seconds; a slot lasts one second. */
export function milestoneTimestamp(index: number): number {
  return Number(beganText) + index
}

/** Listens on a free port and sends it to the parent process. */
export function serve(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ port: (server.address() as AddressInfo).port })
  })
  // Exits with the benchmark.
  process.on('disconnect', () => process.exit())
}
