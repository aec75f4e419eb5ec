import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What every peer is told and tells: the URL of the database and the start of slot 1 in Unix seconds, then its port. */
const [databaseUrl = '', beganText = ''] = process.argv.slice(2)

export { databaseUrl }

/** The path of a SQLite file; `undefined` for PostgreSQL. */
export const databaseFile = /^file:(.+)$/.exec(databaseUrl)?.[1]

/** The end of a milestone in Unix seconds: slots have one second. */
export function milestoneTimestamp(index: number): number {
  return Number(beganText) + index
}

/** Listens on a free port of this machine and says which. */
export function serve(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ port: (server.address() as AddressInfo).port })
  })
  // A benchmark that ends takes its peers with it.
  process.on('disconnect', () => process.exit())
}
