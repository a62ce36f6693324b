import { type Log, silentLog } from '@rowcall/protocol';
import { startUpstream, type TestUpstream } from '@rowcall/testing';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildEngine, type BuildEngineOptions } from '../build-engine.js';
