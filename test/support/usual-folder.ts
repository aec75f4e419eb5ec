import { defaultDatabase } from './databases.ts'
import { makeFolder } from './program.ts'

/** A folder for the files of a test that starts the program, and the usual database. */
export interface UsualFolder {
  readonly databaseUrl: string
  /** The path of a file in the folder. The database is in the folder only if it is a file. */
  file(name: string): string
  remove(): Promise<void>
}

/** Creates the folder and the database. Scripts without a test runner use `makeFolder`. */
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
