import { defaultDatabase } from './databases.ts'
import { makeFolder } from './program.ts'

/** A folder for the files of a test that starts the program, and the usual database for it. */
export interface UsualFolder {
  readonly databaseUrl: string
  /** In the folder; the database is there only where it is a file. */
  file(name: string): string
  remove(): Promise<void>
}

/** Makes both; outside of tests there is `makeFolder`. */
export async function makeUsualFolder(): Promise<UsualFolder> {
  const folder = makeFolder()
  const database = await defaultDatabase().create()
  return {
    databaseUrl: database.url,
    file: (name) => `${folder.databaseFile}.${name}`,
    remove: async () => {
      await database.remove()
      folder.remove()
    },
  }
}
