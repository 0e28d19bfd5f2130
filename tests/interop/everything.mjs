#!/usr/bin/env node
// An upstream over stdio, made with the official SDK, that has the tools of the official conformance suite. The gateway stands
// between the two. Beyond the suite's tools: `echo` gives its argument back, `held` answers when the file that it names is gone.
import { existsSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

// A PNG of one red pixel, and a WAV file without a sample.
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const text = (words) => ({ type: 'text', text: words });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const resource = (uri, mimeType, words) => ({ type: 'resource', resource: { uri, mimeType, text: words } });
const content = (...parts) => ({ content: parts });
const NONE = { type: 'object', properties: {} };

const tools = {
  test_simple_text: {
    description: 'Returns a text.',
    call: () => content(text('This is a simple text response for testing.')),
  },
  test_image_content: { description: 'Returns an image.', call: () => content(image) },
  test_audio_content: {
    description: 'Returns a sound.',
    call: () => content({ type: 'audio', data: WAV, mimeType: 'audio/wav' }),
  },
  test_embedded_resource: {
    description: 'Returns a resource.',
    call: () => content(resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')),
  },
  test_multiple_content_types: {
    description: 'Returns a text, an image and a resource.',
    call: () =>
      content(
        text('Multiple content types test:'),
        image,
        resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ),
  },
  test_error_handling: {
    description: 'Fails, and says so in its result.',
    call: () => ({ isError: true, ...content(text('This tool intentionally returns an error for testing')) }),
  },
  test_tool_with_progress: {
    description: 'Reports its progress three times.',
    async call(params, extra) {
      const progressToken = params._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
        }
        await new Promise((done) => setTimeout(done, 50));
      }
      return content(text('Done.'));
    },
  },
  json_schema_2020_12_tool: {
    description: 'Tool with JSON Schema 2020-12 features',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
    call: () => content(text('Done.')),
  },
  echo: {
    description: 'Gives its argument back.',
    inputSchema: { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] },
    call: (params) => content(text(String(params.arguments?.words))),
  },
  // Two tools that do the same; the tests' policy denies one of them.
  denied: { description: 'Must never be reached.', call: () => content(text('reached')) },
  held: {
    description: 'Answers once the named file is gone.',
    inputSchema: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'] },
    call: (params) =>
      new Promise((done) => {
        const file = params.arguments.file;
        const answer = () => {
          if (existsSync(file)) return;
          folder.close();
          done(content(text('let go')));
        };
        const folder = watch(dirname(file), answer);
        answer();
      }),
  },
};

const server = new Server({ name: 'everything', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.entries(tools).map(([name, tool]) => ({
    name,
    description: tool.description,
    inputSchema: tool.inputSchema ?? NONE,
  })),
}));
server.setRequestHandler(CallToolRequestSchema, (request, extra) => {
  const tool = tools[request.params.name];
  if (!tool) throw new Error('no such tool');
  return tool.call(request.params, extra);
});
await server.connect(new StdioServerTransport());
