import type { StoreError } from '../store/open.ts'

/** The message for a database that cannot be opened, with the action to take. */
export function databaseMessage(error: StoreError): string {
  switch (error.code) {
    case 'DATABASE_URL_NOT_SUPPORTED':
      return `DATABASE_URL must be ${error.expected}`
    case 'DATABASE_UNUSABLE':
      return `the database cannot be used: ${error.reason}`
    case 'DATABASE_NEWER_THAN_PROGRAM':
      return `the database is newer than this program: it has the migration ${error.migration}`
    case 'DATABASE_OLDER_THAN_PROGRAM':
      return `the database was written by an earlier version: it lacks the migration ${error.migration}; start the gateway on it once, or use the version that wrote it`
    case 'MIGRATION_CHANGED':
      return `the database was created with a different text of the migration ${error.migration}`
    case 'DATABASE_IN_USE':
      return `a gateway of an earlier version (${error.holder}) writes the database, which lacks the migration ${error.migration}; stop every gateway on it, then start this one`
    case 'MIGRATION_UNFINISHED':
      return `the migration ${error.migration} of the database was started but never finished`
    case 'LEDGER_MISSING':
      return `there is no ledger in ${error.place}`
    case 'IMPORT_UNFINISHED':
      return 'the database holds an unfinished import; run ledger-gateway import again with the same export'
  }
}
