import { once } from 'node:events'
import type { ListenOptions, Server } from 'node:net'

/** The address of a server. Port 0 selects any free port. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Makes a server listen. Resolves to the error code of the system, such as `EADDRINUSE`, if it cannot. */
export async function listen(server: Server, options: ListenOptions): Promise<string | undefined> {
  try {
    await once(server.listen(options), 'listening')
    return undefined
  } catch (failure) {
    const { code, message }: NodeJS.ErrnoException = Object(failure)
    return code ?? message
  }
}
